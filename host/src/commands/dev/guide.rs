//! The text for a person who starts a dev server: the way to a first login, ready to be pasted.

use std::fmt;
use std::path::Path;

use gatehouse_fake_google::Population;

use super::setup::{INSTANCE_ROLE, POLICY, ROLE};

/// Everything that the text names.
pub(super) struct Guide<'a> {
    pub(super) address: &'a str,
    pub(super) root_token: &'a str,
    pub(super) site_admin_token: &'a str,
    pub(super) unseal_keys: &'a [String],
    pub(super) google: &'a str,
    /// True if the pages for people are served.
    pub(super) has_console: bool,
    pub(super) key_file: &'a Path,
}

impl fmt::Display for Guide<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            address,
            root_token,
            site_admin_token,
            google,
            ..
        } = self;
        writeln!(
            formatter,
            "Gatehouse runs in dev mode: all records are in memory and end with it. Not for production.\n"
        )?;
        writeln!(formatter, "  Address      {address}")?;
        if self.has_console {
            writeln!(formatter, "  Console      {address}/ui/")?;
        }
        writeln!(formatter, "  Root token   {root_token}")?;
        for key in self.unseal_keys {
            writeln!(formatter, "  Unseal key   {key}")?;
        }
        writeln!(formatter, "  Site admin   {site_admin_token}")?;
        writeln!(formatter, "  Fake Google  {google}")?;
        let workload = Population::WORKLOAD;
        write!(
            formatter,
            "
The method is enabled at gcp/, and role `{ROLE}` lets {workload}
in with policy `{POLICY}`. Paste this into another terminal for a first login:

{login}
The same with the command line of OpenBao or Vault:

  export BAO_ADDR={address} VAULT_ADDR={address}
  bao write auth/gcp/login role={ROLE} jwt=\"$JWT\"

As an instance, with what its metadata server says of it:

{instance_login}
A first organization, by the token of the login:

{organization}
The organizations API has an administrator too, the user `admin`, whose token is above:

  export TFE_ADDRESS={address} TFE_TOKEN={site_admin_token}

Ctrl-C ends it.
",
            login = self.login(),
            instance_login = self.instance_login(),
            organization = self.organization(),
        )
    }
}

impl Guide<'_> {
    fn login(&self) -> String {
        let address = self.address;
        let program = std::env::current_exe().map_or_else(
            |_| "gatehouse".to_owned(),
            |path| shell_word(&path.to_string_lossy()),
        );
        let key_file = shell_word(&self.key_file.to_string_lossy());
        format!(
            r#"  JWT=$({program} login-jwt --credentials {key_file} --role {ROLE})
  TOKEN=$(curl -sS {address}/v1/auth/gcp/login -d "{{\"role\":\"{ROLE}\",\"jwt\":\"$JWT\"}}" \
    | sed 's/.*"client_token":"\([^"]*\)".*/\1/')
  curl -sS -H "X-Vault-Token: $TOKEN" {address}/v1/auth/token/lookup-self
"#
        )
    }

    fn instance_login(&self) -> String {
        let Self {
            address, google, ..
        } = self;
        let identity =
            format!("{google}/computeMetadata/v1/instance/service-accounts/default/identity");
        format!(
            r#"  VM_JWT=$(curl -sS -H 'Metadata-Flavor: Google' \
    '{identity}?audience=http://vault/{INSTANCE_ROLE}&format=full')
  curl -sS {address}/v1/auth/gcp/login -d "{{\"role\":\"{INSTANCE_ROLE}\",\"jwt\":\"$VM_JWT\"}}"
"#
        )
    }

    fn organization(&self) -> String {
        let address = self.address;
        format!(
            r#"  curl -sS {address}/api/v2/organizations -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/vnd.api+json' \
    -d '{{"data":{{"type":"organizations","attributes":{{"name":"demo-first","email":"you@example.com"}}}}}}'
  curl -sS -H "Authorization: Bearer $TOKEN" {address}/api/v2/organizations/demo-first
"#
        )
    }
}

/// A text as one word of a shell command.
fn shell_word(text: &str) -> String {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/._-+:@".contains(&byte));
    if is_plain && !text.is_empty() {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_names_address_token_and_commands() {
        let guide = Guide {
            address: "http://127.0.0.1:8200",
            root_token: "hvs.root",
            site_admin_token: "x.atlasv1.y",
            unseal_keys: &["a2V5".to_owned()],
            google: "http://127.0.0.1:9",
            has_console: true,
            key_file: Path::new("/tmp/a b/workload.json"),
        };
        let text = guide.to_string();
        for needle in [
            "Root token   hvs.root",
            "Unseal key   a2V5",
            "Site admin   x.atlasv1.y",
            "login-jwt --credentials '/tmp/a b/workload.json' --role dev)",
            r#"-d "{\"role\":\"dev\",\"jwt\":\"$JWT\"}""#,
            "http://127.0.0.1:9/computeMetadata/v1/instance/service-accounts/default/identity?audience=http://vault/vm&format=full",
            r#""attributes":{"name":"demo-first","email":"you@example.com"}"#,
        ] {
            assert!(text.contains(needle), "{needle} in {text}");
        }
    }

    #[test]
    fn paths_survive_the_shell() {
        assert_eq!(shell_word("/tmp/x-1/key.json"), "/tmp/x-1/key.json");
        assert_eq!(shell_word("/tmp/it's"), r"'/tmp/it'\''s'");
    }
}
