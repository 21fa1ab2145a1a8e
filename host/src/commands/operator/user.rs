//! `gatehouse operator user`: makes people known to a running server.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use clap::{Args, Subcommand};
use gatehouse_ports::organizations_api::MEDIA_TYPE;
use http::{Method, Request, Response, header};
use http_body_util::Full;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::commands::client::RemoteServer;

use crate::commands::installation::TOKEN_VARIABLES;

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
    server: RemoteServer,
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
    let token = token("a site administrator, such as a root token")?;
    let answer = user.server.send(request(&user, &token)?, TIMEOUT).await?;
    println!("{}", first_token(&answer)?);
    eprintln!("{} can log in with this token.", user.username);
    Ok(())
}

/// The token of `whom`, from the environment.
pub(super) fn token(whom: &str) -> Result<Zeroizing<String>> {
    let found = TOKEN_VARIABLES
        .iter()
        .find_map(|name| std::env::var(name).ok());
    let found = found.with_context(|| {
        format!(
            "no token: set one of {} to that of {whom}",
            TOKEN_VARIABLES.join(", ")
        )
    })?;
    Ok(Zeroizing::new(found))
}

fn request(user: &NewUser, token: &str) -> Result<Request<Full<Bytes>>> {
    let document = json!({"data": {"type": "users", "attributes": {
        "username": user.username,
        "email": user.email,
        "is-site-admin": user.site_admin,
    }}});
    let target = user.server.target("/api/v2/admin/users")?;
    let mut authorization = header::HeaderValue::from_str(&format!("Bearer {token}"))
        .context("the token contains characters that no token can have")?;
    authorization.set_sensitive(true);
    Ok(Request::builder()
        .method(Method::POST)
        .uri(target.as_str())
        .header(header::CONTENT_TYPE, MEDIA_TYPE)
        .header(header::AUTHORIZATION, authorization)
        .body(Full::new(Bytes::from(document.to_string())))?)
}

/// The token in the answer to a new user.
fn first_token(answer: &Response<Bytes>) -> Result<String> {
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
    let token = body.pointer("/meta/token").and_then(Value::as_str);
    Ok(token.context("the server told no token")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Response<Bytes> {
        let body = Bytes::from(body.to_owned());
        Response::builder().status(status).body(body).unwrap()
    }

    #[test]
    fn the_token_is_taken_from_the_answer() {
        let made = answer(201, r#"{"data":{},"meta":{"token":"abc"}}"#);
        assert_eq!(first_token(&made).unwrap(), "abc");
    }

    #[test]
    fn a_refusal_says_what_the_server_says() {
        let refused = answer(
            422,
            r#"{"errors":[{"detail":"Email is invalid"},{"title":"x"}]}"#,
        );
        let text = first_token(&refused).unwrap_err().to_string();
        assert_eq!(
            text,
            "the server answered 422 Unprocessable Entity: Email is invalid; x"
        );
        let hidden = first_token(&answer(404, "")).unwrap_err().to_string();
        assert!(hidden.contains("site administrator"), "{hidden}");
        assert!(first_token(&answer(200, "{}")).is_err());
    }

    #[test]
    fn the_request_carries_the_user_and_marks_the_token_as_secret() {
        let user = NewUser {
            server: RemoteServer {
                address: "https://gatehouse.example:8200/".parse().unwrap(),
                ca_file: None,
            },
            username: "ada".to_owned(),
            email: "ada@example.com".to_owned(),
            site_admin: true,
        };
        let request = request(&user, "hvs.root").unwrap();
        assert_eq!(
            request.uri(),
            "https://gatehouse.example:8200/api/v2/admin/users"
        );
        assert!(request.headers()[header::AUTHORIZATION].is_sensitive());
    }
}
