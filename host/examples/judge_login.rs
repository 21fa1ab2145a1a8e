//! Judges a login by the auth method alone: its records are in a map of this program, and what it asks of Google is answered here too.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use gatehouse::embed::{AuthMethod, interface::*, ports, ports::*};
use gatehouse_fake_google::SigningKey;

/// The last version that was given away, and the records. Nothing expires here.
struct Records(Mutex<(u64, BTreeMap<String, Item>)>);

impl Store for Records {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let records = &self.0.lock().unwrap_or_else(PoisonError::into_inner).1;
        let entry = |key: &&str| records.get(*key).map(|item| item.entry.clone());
        Ok(keys.iter().map(entry).collect())
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        let (limit, after) = (limit as usize, after.unwrap_or(""));
        let records = &self.0.lock().unwrap_or_else(PoisonError::into_inner).1;
        let wanted = |item: &&Item| item.key.starts_with(prefix) && *item.key > *after;
        let mut found = records.values().filter(wanted);
        let items = found.by_ref().take(limit).cloned().collect();
        let more = found.next().is_some();
        Ok(Page { items, more })
    }

    fn commit(&self, checks: Vec<ports::Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        let (version, records) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for ports::Check { key, requirement } in checks {
            let found = records.get(&key).map(|item| item.entry.version);
            if found.map_or(Requirement::Absent, Requirement::AtVersion) != requirement {
                return Err(CommitError::Conflict(key));
            }
        }
        *version += 1;
        for change in changes {
            records.remove(change.key());
            if let Change::Put(Put { key, value, .. }) = change {
                let version = *version;
                let entry = Entry { value, version };
                records.insert(key.clone(), Item { key, entry });
            }
        }
        Ok(())
    }
}

/// As much of Google as this login needs: the document of its public keys.
struct Google(HttpResponse);

impl Http for Google {
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let known = request.url == "https://www.googleapis.com/oauth2/v1/certs";
        known.then(|| self.0.clone()).ok_or(HttpError::Denied)
    }
}

/// Configures a mount, makes a role, and judges a login under it.
#[rustfmt::skip]
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = SigningKey::generate("google")?; // A workload in a cloud has a token that Google signed.
    let (now, ci) = (SystemClock.now_seconds(), "ci@my-project.iam.gserviceaccount.com");
    let claims = serde_json::json!({ "iss": "https://accounts.google.com", "sub": "117", "email": ci,
        "email_verified": true, "aud": "http://vault/deploy", "iat": now, "exp": now + 600 });
    let jwt = key.sign_jwt(claims.as_object().ok_or("not an object")?)?;
    let body = serde_json::json!({ key.key_id(): key.certificate_pem() }).to_string().into_bytes();
    let google = Google(HttpResponse { status: 200, headers: Vec::new(), body });
    let method = AuthMethod::new(Records(Mutex::default()), google)?;
    let mount = Mount { id: "m1".into(), accessor: "auth_gcp_1".into(), path: "gcp/".into(), default_lease: 3600, maximum_lease: 86400 };
    let config = ConfigChanges { iam_alias: Some("unique_id".into()), ..Default::default() };
    method.write_config(&mount, config)?;
    let role = RoleChanges { role_type: Some("iam".into()), bound_service_accounts: Some(vec![ci.into()]), live_checks: Some(false), ..Default::default() };
    method.write_role(&mount, "deploy", role, Precondition::MustBeNew)?;

    let identity = method.login(&mount, &LoginRequest { role: "deploy".into(), jwt, source_address: None })?;
    println!("{identity:#?}");
    Ok(())
}
