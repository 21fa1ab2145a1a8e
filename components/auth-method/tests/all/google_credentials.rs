//! Google's side of credentials: tokens for keys, users, machines and federated identities; keys made and deleted; permissions.
//! Everything else is left to the other Google.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use gatehouse_auth_method::rs256::{SigningKey, VerifyingKey};
use gatehouse_auth_method::{AuthMethodService, PublicKey, Settings};
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, HttpRequest, HttpResponse, Method, NoCache};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::google::{FakeGoogle, Fault, answer, refusal, text};
use crate::keys::{self, Key};
use crate::stage::{NOW, Stage, mount};

/// The account of the key file of a stage.
pub const ROOT: &str = "root@ops.example";
pub const ISSUER: &str = "https://vault.example.com/v1/identity/oidc/plugins";
pub const AUDIENCE: &str =
    "https://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/v";
pub const ACTED_AS: &str = "acted-as@ops.iam.gserviceaccount.com";
pub const METADATA_HOST: &str = "metadata.test";
/// Texts that must never be told.
pub const CLIENT_SECRET: &str = "MARKED-client-secret";
pub const REFRESH_TOKEN: &str = "MARKED-refresh-token";

pub struct State {
    /// Keys of the root account that are accepted.
    pub keys: BTreeMap<String, VerifyingKey>,
    pub keys_made: Vec<String>,
    pub keys_deleted: Vec<String>,
    /// How often a new key is not yet known.
    pub refusals_of_new_keys: usize,
    /// Changes of a new key file.
    pub new_key_overrides: Vec<(&'static str, Value)>,
    /// The keys that the issuer publishes, as the pool has read them.
    pub trusted: Vec<PublicKey>,
    /// Claims of the identity tokens that were accepted.
    pub identities: Vec<Value>,
    /// The lifetimes that were asked for.
    pub lifetimes: Vec<String>,
    /// Seconds until the token of an account expires.
    pub generated_for: u64,
    pub permissions: BTreeMap<String, Vec<&'static str>>,
    pub metadata_flavor: Option<&'static str>,
    federated_token: String,
    tokens: u64,
}

pub struct CredentialsGoogle {
    google: Arc<FakeGoogle>,
    state: Mutex<State>,
}

pub fn verifying_key(key: &Key) -> VerifyingKey {
    let key = SigningKey::from_pem(&key.private_pem()).unwrap();
    key.verifying_key().clone()
}

pub fn settings() -> Settings {
    Settings {
        advertised_address: Some("https://vault.example.com".to_owned()),
        ..Settings::default()
    }
}

/// A stage where Google knows about credentials.
pub fn stage(settings: Settings) -> (Stage, Arc<CredentialsGoogle>) {
    let google = Arc::new(FakeGoogle::new());
    let known = BTreeMap::from([("root-key".to_owned(), verifying_key(keys::of_stranger()))]);
    let credentials = Arc::new(CredentialsGoogle {
        google: Arc::clone(&google),
        state: Mutex::new(State {
            keys: known,
            keys_made: Vec::new(),
            keys_deleted: Vec::new(),
            refusals_of_new_keys: 0,
            new_key_overrides: Vec::new(),
            trusted: Vec::new(),
            identities: Vec::new(),
            lifetimes: Vec::new(),
            generated_for: 3600,
            permissions: BTreeMap::new(),
            metadata_flavor: Some("Google"),
            federated_token: String::new(),
            tokens: 0,
        }),
    });
    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
    let store: &'static MemoryStore<_> = Box::leak(Box::new(MemoryStore::new(clock)));
    let answering = Arc::clone(&credentials);
    let http: &'static ScriptedHttp = Box::leak(Box::new(ScriptedHttp::new(move |request| {
        answering.answer(request)
    })));
    let random = SeededRandom::new(7);
    let stage = Stage {
        google,
        clock,
        store,
        http,
        service: AuthMethodService::new(store, NoCache, http, clock, random, settings),
        mount: mount("m1"),
    };
    (stage, credentials)
}

impl CredentialsGoogle {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn answer(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        if let Some(fault) = self.fault(&request.url) {
            return fault;
        }
        let url = request.url.as_str();
        let iam = "https://iam.googleapis.com/v1/projects/";
        let root_keys = format!("/serviceAccounts/{ROOT}/keys");
        let mut state = self.state();
        if url == "https://oauth2.googleapis.com/token" {
            Ok(self.token(&mut state, request))
        } else if url == "https://sts.googleapis.com/v1/token" {
            Ok(exchange(&mut state, request))
        } else if let Some(rest) = url.strip_prefix("https://iamcredentials.googleapis.com/") {
            Ok(self.generate(&mut state, request, rest))
        } else if url.starts_with("http://metadata.test/") {
            Ok(self.of_machine(&mut state, request))
        } else if url == format!("{iam}-{root_keys}") {
            Ok(self.make_key(&mut state, request))
        } else if let Some(key) = url.strip_prefix(&format!("{iam}ops{root_keys}/")) {
            Ok(self.delete_key(&mut state, request, key))
        } else if let Some(rest) =
            url.strip_prefix("https://cloudresourcemanager.googleapis.com/v1/projects/")
            && let Some(project) = rest.strip_suffix(":testIamPermissions")
        {
            Ok(self.permissions(&state, request, project))
        } else {
            drop(state);
            self.google.answer(request)
        }
    }

    fn fault(&self, url: &str) -> Option<Result<HttpResponse, HttpError>> {
        let mut state = self.google.state();
        let (_, fault, times) = state
            .faults
            .iter_mut()
            .find(|(part, _, times)| *times > 0 && url.contains(*part))?;
        *times -= 1;
        Some(match fault.clone() {
            Fault::Error(error) => Err(error),
            Fault::Answer(answer) => Ok(answer),
        })
    }

    fn accept_new_token(&self, state: &mut State) -> String {
        state.tokens += 1;
        let token = format!("MARKED-access-token-{}", state.tokens);
        self.google.state().accepted_token.clone_from(&token);
        token
    }

    fn is_authorized(&self, request: &HttpRequest) -> bool {
        let accepted = format!("Bearer {}", self.google.state().accepted_token);
        header(request, "authorization") == Some(accepted)
    }

    fn token(&self, state: &mut State, request: &HttpRequest) -> HttpResponse {
        let form = form(request);
        let is_accepted = match form["grant_type"].as_str() {
            "urn:ietf:params:oauth:grant-type:jwt-bearer" => {
                let parts = jwt(&form["assertion"]);
                let kid = parts.header["kid"].as_str().unwrap();
                let is_known = state
                    .keys
                    .get(kid)
                    .is_some_and(|key| parts.is_signed_by(key));
                let is_new = state.keys_made.iter().any(|made| made == kid);
                if is_new && state.refusals_of_new_keys > 0 {
                    state.refusals_of_new_keys -= 1;
                    false
                } else {
                    is_known && parts.claims["iss"] == ROOT
                }
            }
            "refresh_token" => {
                form["client_id"] == "client"
                    && form["client_secret"] == CLIENT_SECRET
                    && form["refresh_token"] == REFRESH_TOKEN
            }
            other => panic!("{other}"),
        };
        if !is_accepted {
            let body = json!({"error": "invalid_grant", "error_description": "MARKED-description"});
            return answer(400, &body, &[]);
        }
        let token = self.accept_new_token(state);
        let body = json!({"access_token": token, "expires_in": 3599, "token_type": "Bearer"});
        answer(200, &body, &[])
    }

    fn generate(&self, state: &mut State, request: &HttpRequest, rest: &str) -> HttpResponse {
        let expected = format!("v1/projects/-/serviceAccounts/{ACTED_AS}:generateAccessToken");
        assert_eq!(rest, expected);
        let bearer = format!("Bearer {}", state.federated_token);
        if header(request, "authorization") != Some(bearer) {
            return refusal(401, "Invalid Credentials", "authError");
        }
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let scope = json!(["https://www.googleapis.com/auth/cloud-platform"]);
        assert_eq!(asked["scope"], scope);
        state
            .lifetimes
            .push(asked["lifetime"].as_str().unwrap().to_owned());
        let token = self.accept_new_token(state);
        let end = NOW + state.generated_for;
        let end = Timestamp::from_second(i64::try_from(end).unwrap()).unwrap();
        let body = json!({"accessToken": token, "expireTime": end.to_string()});
        answer(200, &body, &[])
    }

    fn of_machine(&self, state: &mut State, request: &HttpRequest) -> HttpResponse {
        let path = "/computeMetadata/v1/instance/service-accounts/default/token";
        assert_eq!(request.url, format!("http://{METADATA_HOST}{path}"));
        assert_eq!(
            header(request, "metadata-flavor").as_deref(),
            Some("Google")
        );
        let token = self.accept_new_token(state);
        let body = json!({"access_token": token, "expires_in": 3599, "token_type": "Bearer"});
        let flavor = state.metadata_flavor.map(str::to_owned);
        let headers: Vec<(String, String)> = flavor
            .map(|flavor| ("metadata-flavor".to_owned(), flavor))
            .into_iter()
            .collect();
        answer(200, &body, &headers)
    }

    fn make_key(&self, state: &mut State, request: &HttpRequest) -> HttpResponse {
        assert!(request.method == Method::Post);
        if !self.is_authorized(request) {
            return refusal(401, "Invalid Credentials", "authError");
        }
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let expected = json!({
            "keyAlgorithm": "KEY_ALG_RSA_2048", "privateKeyType": "TYPE_GOOGLE_CREDENTIALS_FILE",
        });
        assert_eq!(asked, expected);
        let number = state.keys_made.len();
        let pair = [keys::of_account(), keys::of_google()][number % 2];
        let id = format!("made-{}", number + 1);
        state.keys.insert(id.clone(), verifying_key(pair));
        state.keys_made.push(id.clone());
        let mut file = json!({
            "type": "service_account", "project_id": "ops", "private_key_id": id,
            "private_key": pair.private_pem(), "client_email": ROOT, "client_id": "999",
            "token_uri": "https://oauth2.googleapis.com/token",
        });
        for (name, value) in &state.new_key_overrides {
            file[*name] = value.clone();
        }
        let body = json!({
            "name": format!("projects/ops/serviceAccounts/{ROOT}/keys/{id}"),
            "privateKeyData": STANDARD.encode(file.to_string()),
        });
        answer(200, &body, &[])
    }

    fn delete_key(&self, state: &mut State, request: &HttpRequest, key: &str) -> HttpResponse {
        assert!(request.method == Method::Delete);
        if !self.is_authorized(request) {
            return refusal(401, "Invalid Credentials", "authError");
        }
        if state.keys.remove(key).is_none() {
            return refusal(404, "Unknown key", "notFound");
        }
        state.keys_deleted.push(key.to_owned());
        text(200, "{}")
    }

    fn permissions(&self, state: &State, request: &HttpRequest, project: &str) -> HttpResponse {
        if !self.is_authorized(request) {
            return refusal(401, "Invalid Credentials", "authError");
        }
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(asked["permissions"].as_array().unwrap().len(), 7);
        match state.permissions.get(project) {
            Some(held) if held.is_empty() => text(200, "{}"),
            Some(held) => answer(200, &json!({"permissions": held}), &[]),
            None => refusal(403, "The caller does not have permission", "forbidden"),
        }
    }
}

/// A workload identity pool with a condition on the mount.
fn exchange(state: &mut State, request: &HttpRequest) -> HttpResponse {
    let form = form(request);
    let expected = [
        ("audience", AUDIENCE.strip_prefix("https:").unwrap()),
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        (
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:access_token",
        ),
        ("scope", "https://www.googleapis.com/auth/cloud-platform"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
    ];
    for (name, value) in expected {
        assert_eq!(form[name], value);
    }
    assert_eq!(form.len(), expected.len() + 1);
    let token = jwt(&form["subject_token"]);
    let key = state
        .trusted
        .iter()
        .find(|key| token.header["kid"] == key.key_id.as_str())
        .map(|key| VerifyingKey::from_components(&key.modulus, &key.exponent).unwrap());
    let is_accepted = key.is_some_and(|key| token.is_signed_by(&key))
        && token.claims["iss"] == ISSUER
        && token.claims["aud"] == json!([AUDIENCE])
        && token.claims["sub"] == "plugin-identity:root:auth:auth_gcp_m1";
    if !is_accepted {
        let body = json!({"error": "invalid_grant", "error_description": "MARKED-description"});
        return answer(400, &body, &[]);
    }
    state.identities.push(token.claims);
    state.tokens += 1;
    state.federated_token = format!("MARKED-federated-token-{}", state.tokens);
    let body = json!({
        "access_token": state.federated_token, "expires_in": 3599, "token_type": "Bearer",
        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
    });
    answer(200, &body, &[])
}

pub struct Jwt {
    pub header: Value,
    pub claims: Value,
    input: String,
    signature: Vec<u8>,
}

impl Jwt {
    pub fn is_signed_by(&self, key: &VerifyingKey) -> bool {
        key.is_signature_of(&self.signature, self.input.as_bytes())
    }
}

pub fn jwt(text: &str) -> Jwt {
    let (input, signature) = text.rsplit_once('.').unwrap();
    let (header, claims) = input.split_once('.').unwrap();
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
    Jwt {
        header: serde_json::from_slice(&decode(header)).unwrap(),
        claims: serde_json::from_slice(&decode(claims)).unwrap(),
        input: input.to_owned(),
        signature: decode(signature),
    }
}

fn form(request: &HttpRequest) -> BTreeMap<String, String> {
    let media_type = header(request, "content-type");
    assert_eq!(
        media_type.as_deref(),
        Some("application/x-www-form-urlencoded")
    );
    url::form_urlencoded::parse(&request.body)
        .into_owned()
        .collect()
}

fn header(request: &HttpRequest, name: &str) -> Option<String> {
    let mut headers = request.headers.iter();
    let found = headers.find(|(candidate, _)| candidate == name);
    found.map(|(_, value)| value.clone())
}
