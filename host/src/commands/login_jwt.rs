//! `gatehouse login-jwt`: what a workload that holds a service-account key file logs in with (contract 4.5, 6.7).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::RSA_PKCS1_SHA256;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Args;
use jiff::SignedDuration;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde::{Deserialize, Serialize};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Key file of the service account, as Google hands it out
    #[arg(long, value_name = "FILE")]
    credentials: PathBuf,
    /// Role to log in with
    #[arg(long)]
    role: String,
    /// Audience of the JWT; by default `vault/<role>`
    #[arg(long)]
    audience: Option<String>,
    /// How long the JWT is valid; roles refuse more than their max_jwt_exp
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = parse_lifetime)]
    expires_in: Duration,
}

/// The members of a key file that signing needs.
#[derive(Deserialize)]
struct KeyFile {
    client_email: String,
    private_key_id: String,
    private_key: String,
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    kid: &'a str,
    typ: &'static str,
}

#[derive(Serialize)]
struct Claims<'a> {
    sub: &'a str,
    aud: &'a str,
    iat: u64,
    exp: u64,
}

fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => text
            .parse::<SignedDuration>()
            .ok()
            .and_then(|lifetime| Duration::try_from(lifetime).ok())
            .ok_or("expected a time such as 15m or 900s")?,
    };
    if lifetime.as_secs() == 0 {
        return Err("expected at least one second".to_owned());
    }
    Ok(lifetime)
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .context("the clock stands before 1970")?
        .as_secs();
    let default_audience = format!("vault/{}", arguments.role);
    let audience = arguments.audience.as_deref().unwrap_or(&default_audience);
    let jwt = sign(
        &read_key_file(&arguments.credentials)?,
        audience,
        now,
        now.saturating_add(arguments.expires_in.as_secs()),
    )?;
    writeln!(std::io::stdout(), "{jwt}")?;
    Ok(())
}

fn read_key_file(path: &Path) -> Result<KeyFile> {
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| {
        // The parser's own text may quote the key.
        anyhow::anyhow!(
            "{} is not a service-account key file (line {}, column {}): expected client_email, private_key_id and private_key",
            path.display(),
            error.line(),
            error.column()
        )
    })
}

fn sign(key_file: &KeyFile, audience: &str, issued_at: u64, expires_at: u64) -> Result<String> {
    let der = PrivatePkcs8KeyDer::from_pem_slice(key_file.private_key.as_bytes())
        .map_err(|_| anyhow::anyhow!("private_key is not a PKCS #8 key in PEM"))?;
    let key = KeyPair::from_pkcs8(der.secret_pkcs8_der())
        .context("private_key is not a usable RSA key")?;
    let header = encode(&Header {
        alg: "RS256",
        kid: &key_file.private_key_id,
        typ: "JWT",
    })?;
    let claims = encode(&Claims {
        sub: &key_file.client_email,
        aud: audience,
        iat: issued_at,
        exp: expires_at,
    })?;
    let signed = format!("{header}.{claims}");
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        signed.as_bytes(),
        &mut signature,
    )
    .context("the key cannot sign")?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

fn encode(part: &impl Serialize) -> Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(serde_json::to_vec(part)?))
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
    use aws_lc_rs::rsa::KeySize;
    use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    use serde_json::{Value, json};

    use super::*;

    fn key_file_text(key: &KeyPair) -> String {
        let der: Pkcs8V1Der<'_> = key.as_der().unwrap();
        let base64 = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
        json!({
            "type": "service_account",
            "client_email": "workload@demo.iam.gserviceaccount.com",
            "private_key_id": "0123abcd",
            "private_key": pem,
        })
        .to_string()
    }

    fn part(jwt: &str, number: usize) -> Value {
        let text = jwt.split('.').nth(number).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
    }

    #[test]
    fn a_login_jwt_names_account_role_and_key_and_verifies() {
        let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.json");
        std::fs::write(&path, key_file_text(&key)).unwrap();

        let jwt = sign(&read_key_file(&path).unwrap(), "vault/dev", 1000, 1900).unwrap();
        assert_eq!(
            part(&jwt, 0),
            json!({"alg": "RS256", "kid": "0123abcd", "typ": "JWT"})
        );
        assert_eq!(
            part(&jwt, 1),
            json!({"sub": "workload@demo.iam.gserviceaccount.com", "aud": "vault/dev", "iat": 1000, "exp": 1900})
        );
        let (signed, signature) = jwt.rsplit_once('.').unwrap();
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref())
            .verify(
                signed.as_bytes(),
                &URL_SAFE_NO_PAD.decode(signature).unwrap(),
            )
            .unwrap();
    }

    #[test]
    fn a_file_that_is_no_key_file_is_named_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.json");
        for content in ["{\"private_key\": \"SECRET\"}", "SECRET", ""] {
            std::fs::write(&path, content).unwrap();
            let message = format!("{:#}", read_key_file(&path).err().unwrap());
            assert!(
                message.contains("key.json is not a service-account key file"),
                "{message}"
            );
            assert!(!message.contains("SECRET"), "{message}");
        }
        let file = KeyFile {
            client_email: "a@b".into(),
            private_key_id: "k".into(),
            private_key: "SECRET".into(),
        };
        let message = format!("{:#}", sign(&file, "vault/dev", 0, 1).unwrap_err());
        assert_eq!(message, "private_key is not a PKCS #8 key in PEM");
    }

    #[test]
    fn lifetimes_are_seconds_or_have_units() {
        assert_eq!(parse_lifetime("15m"), Ok(Duration::from_secs(900)));
        assert_eq!(parse_lifetime("60"), Ok(Duration::from_secs(60)));
        for refused in ["0", "-5m", "soon", "10ms"] {
            assert!(parse_lifetime(refused).is_err(), "{refused}");
        }
    }
}
