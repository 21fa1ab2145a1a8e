//! `gatehouse operator user`: makes people known to a running server.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use bytes::Bytes;
use clap::{Args, Subcommand};
use gatehouse_ports::organizations_api::MEDIA_TYPE;
use http::{Method, Request, Response, header};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::commands::client::{ServerArguments, Token};
use crate::commands::installation::shown;
use crate::commands::output::{print, tell};

const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Subcommand)]
pub(in crate::commands) enum Command {
    /// Makes a user and prints its first token, which is not shown again. The token of a site administrator, such as a root token,
    /// is read from GATEHOUSE_TOKEN, BAO_TOKEN or VAULT_TOKEN
    Create(NewUser),
}

#[derive(Debug, Args)]
pub(in crate::commands) struct NewUser {
    #[command(flatten)]
    server: ServerArguments,
    /// Name of the user: letters, digits, - and _
    #[arg(long, value_name = "NAME")]
    username: String,
    /// Email address of the user, who can accept invitations to it
    #[arg(long, value_name = "ADDRESS")]
    email: String,
    /// Lets the user administer the whole installation
    #[arg(long)]
    site_admin: bool,
}

pub(super) async fn run(Command::Create(user): Command) -> Result<()> {
    let server = &user.server;
    let token = server.token("of a site administrator, such as a root token")?;
    let answer = server.remote.send(request(&user, &token)?, TIMEOUT).await?;
    let made = Made::in_answer(&answer)?;
    print(&made.token).map_err(|error| made.lost(&error))?;
    tell(format_args!(
        "{} can log in with this token.",
        user.username
    ));
    Ok(())
}

fn request(user: &NewUser, token: &Token) -> Result<Request<Full<Bytes>>> {
    let document = json!({"data": {"type": "users", "attributes": {
        "username": user.username,
        "email": user.email,
        "is-site-admin": user.site_admin,
    }}});
    let target = user.server.remote.target("/api/v2/admin/users");
    Ok(Request::builder()
        .method(Method::POST)
        .uri(target.as_str())
        .header(header::CONTENT_TYPE, MEDIA_TYPE)
        .header(header::AUTHORIZATION, token.bearer()?)
        .body(Full::new(Bytes::from(document.to_string())))?)
}

/// A user who was made.
struct Made {
    id: String,
    token: String,
}

impl Made {
    /// The error for a token that could not be printed, with the steps that the operator has to take.
    fn lost(&self, error: &anyhow::Error) -> anyhow::Error {
        let id = &self.id;
        anyhow!(
            "{error:#}. The user is made ({id}), and its first token could not be shown: a site administrator makes another by \
             POST /api/v2/users/{id}/authentication-tokens, and revokes the first, which is in the list there"
        )
    }

    fn in_answer(answer: &Response<Bytes>) -> Result<Self> {
        let body = document(answer)?;
        let text = |pointer| body.pointer(pointer).and_then(Value::as_str);
        let token = text("/meta/token").context("the server told no token")?;
        Ok(Self {
            id: shown(text("/data/id").unwrap_or_default()),
            token: token.to_owned(),
        })
    }
}

/// The answer to a new user.
fn document(answer: &Response<Bytes>) -> Result<Value> {
    let body: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    if answer.status() == http::StatusCode::NOT_FOUND {
        bail!("the token is not that of a site administrator");
    }
    if !answer.status().is_success() {
        let text = |error: &Value| -> Option<String> {
            let text = error.get("detail").or_else(|| error.get("title"))?;
            text.as_str().map(str::to_owned)
        };
        let errors = body.get("errors").and_then(Value::as_array);
        let texts: Vec<String> = errors.into_iter().flatten().filter_map(text).collect();
        bail!(
            "the server answered {}: {}",
            answer.status(),
            texts.join("; ")
        );
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::client::RemoteServer;

    fn answer(status: u16, body: &str) -> Response<Bytes> {
        let body = Bytes::from(body.to_owned());
        Response::builder().status(status).body(body).unwrap()
    }

    #[test]
    fn the_token_is_taken_from_the_answer() {
        let made = answer(201, r#"{"data":{"id":"user-1"},"meta":{"token":"abc"}}"#);
        let made = Made::in_answer(&made).unwrap();
        assert_eq!(made.token, "abc");
        let lost = made.lost(&anyhow!("the disk is full")).to_string();
        assert!(
            lost.contains("users/user-1/authentication-tokens"),
            "{lost}"
        );
        assert!(!lost.contains("abc"), "{lost}");
    }

    #[test]
    fn a_refusal_says_what_the_server_says() {
        let refused = answer(
            422,
            r#"{"errors":[{"detail":"Email is invalid"},{"title":"x"}]}"#,
        );
        let text = Made::in_answer(&refused).err().unwrap().to_string();
        assert_eq!(
            text,
            "the server answered 422 Unprocessable Entity: Email is invalid; x"
        );
        let hidden = Made::in_answer(&answer(404, "")).err().unwrap().to_string();
        assert!(hidden.contains("site administrator"), "{hidden}");
        assert!(Made::in_answer(&answer(200, "{}")).is_err());
    }

    #[test]
    fn the_request_carries_the_user_and_marks_the_token_as_secret() {
        let user = NewUser {
            server: ServerArguments {
                remote: RemoteServer::new("https://gatehouse.example:8200/".parse().unwrap(), None),
                token_file: None,
            },
            username: "ada".to_owned(),
            email: "ada@example.com".to_owned(),
            site_admin: true,
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "hvs.root").unwrap();
        let token = Token::find(Some(&file), &[], "").unwrap();
        let request = request(&user, &token).unwrap();
        assert_eq!(
            request.uri(),
            "https://gatehouse.example:8200/api/v2/admin/users"
        );
        assert!(request.headers()[header::AUTHORIZATION].is_sensitive());
    }
}
