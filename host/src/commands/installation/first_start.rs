//! The steps around the first start from a file, by the token that does it.

use anyhow::Result;
use http::StatusCode;
use serde_json::Value;

use super::Fields;
use super::client::{Server, fixed};

impl Server {
    /// Initializes the server, whose first root token is this one, unless it is initialized.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub(in crate::commands) async fn initialize(&self) -> Result<()> {
        let init = fixed("sys/init");
        let is_initialized = async || {
            let state = self.read(&init).await?;
            state.ensure_success()?;
            Ok::<_, anyhow::Error>(state.body.get("initialized") == Some(&Value::Bool(true)))
        };
        if is_initialized().await? {
            return Ok(());
        }
        let made = self.write(&init, &Value::Object(Fields::new())).await?;
        // Another server on the same store may have been quicker.
        match made.ensure_success() {
            Err(refused) if !is_initialized().await? => Err(refused.context("sys/init")),
            _ => Ok(()),
        }
    }

    /// Tells whether the server knows the token.
    ///
    /// # Errors
    ///
    /// When the server says neither.
    pub(in crate::commands) async fn is_admitted(&self) -> Result<bool> {
        let found = self.read(&fixed("auth/token/lookup-self")).await?;
        match found.status {
            StatusCode::FORBIDDEN => Ok(false),
            _ => found.data().map(|_| true),
        }
    }

    /// Ends the token, unless another server on the same store has done so.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub(in crate::commands) async fn end_token(&self) -> Result<()> {
        let revoke = fixed("auth/token/revoke-self");
        let ended = self.write(&revoke, &Value::Object(Fields::new())).await?;
        match ended.ensure_success() {
            Err(refused) if self.is_admitted().await? => {
                Err(refused.context("auth/token/revoke-self"))
            }
            _ => Ok(()),
        }
    }
}
