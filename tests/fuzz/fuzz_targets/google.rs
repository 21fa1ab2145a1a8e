//! The world around the logins: a Google made of a function, a clock that stands still, and a service with two roles.

use gatehouse_auth_method::{
    AuthMethodService, Config, ConfigChanges, Mount, Precondition, RoleChanges, Roles, Settings,
};
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, HttpRequest, HttpResponse, NoCache};
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256, RsaKeySize};
use serde_json::{Value, json};

use crate::tokens::Tokens;

pub const NOW: u64 = 1_800_000_000;
pub const EMAIL: &str = "dev@p1.iam.gserviceaccount.com";
pub const UNIQUE_ID: &str = "111111111111111111111";

pub struct Key {
    pub pair: KeyPair,
    pub certificate: String,
}

impl Key {
    fn new() -> Self {
        let pair = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).expect("a key");
        let parameters = CertificateParams::new(vec!["fuzz.example".to_owned()]).expect("a name");
        let certificate = parameters.self_signed(&pair).expect("a certificate").pem();
        Self { pair, certificate }
    }
}

type Service = AuthMethodService<
    MemoryStore<&'static ManualClock>,
    NoCache,
    ScriptedHttp,
    &'static ManualClock,
    SeededRandom,
>;

pub struct World {
    pub service: Service,
    pub mount: Mount,
    pub tokens: Tokens,
    pub google: Key,
    pub account: Key,
}

impl World {
    pub fn new() -> Self {
        let (google, account, stranger) = (Key::new(), Key::new(), Key::new());
        let tokens = Tokens::new(&google, &account, &stranger);
        let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
        let documents = (google.certificate.clone(), account.certificate.clone());
        let http = ScriptedHttp::new(move |request| Ok(answer(request, &documents)?));
        let service = AuthMethodService::new(
            MemoryStore::new(clock),
            NoCache,
            http,
            clock,
            SeededRandom::new(1),
            Settings::default(),
        );
        let mount = Mount {
            id: "m1".to_owned(),
            accessor: "auth_gcp_1".to_owned(),
            path: "gcp/".to_owned(),
            default_lease: 3600,
            maximum_lease: 7200,
        };
        let credentials = json!({
            "type": "service_account", "project_id": "ops", "private_key_id": "k",
            "private_key": stranger.pair.serialize_pem(), "client_email": "root@ops.example",
        });
        let changes = ConfigChanges {
            credentials: Some(credentials.to_string()),
            ..ConfigChanges::default()
        };
        service
            .write_config(&mount, changes)
            .expect("a configuration");
        let iam = RoleChanges {
            role_type: Some("iam".to_owned()),
            bound_service_accounts: Some(vec![EMAIL.to_owned()]),
            ..RoleChanges::default()
        };
        let gce = RoleChanges {
            role_type: Some("gce".to_owned()),
            bound_projects: Some(vec!["p1".to_owned()]),
            bound_zones: Some(vec!["us-central1-a".to_owned()]),
            ..RoleChanges::default()
        };
        for (name, changes) in [("dev", iam), ("vm", gce)] {
            service
                .write_role(&mount, name, changes, Precondition::Any)
                .expect("a role");
        }
        Self {
            service,
            mount,
            tokens,
            google,
            account,
        }
    }
}

fn answer(request: &HttpRequest, documents: &(String, String)) -> Result<HttpResponse, HttpError> {
    let url = request.url.as_str();
    let (google, account) = documents;
    let known = url.ends_with(&EMAIL.replace('@', "%40"))
        || url.ends_with(EMAIL)
        || url.ends_with(UNIQUE_ID);
    let body = if url.ends_with("/oauth2/v1/certs") {
        json!({"google-key": google})
    } else if url.contains("/metadata/x509/")
        && (url.contains(EMAIL) || url.contains(UNIQUE_ID) || url.contains("dev%40"))
    {
        json!({"account-key": account})
    } else if url.ends_with("/token") {
        json!({"access_token": "t", "expires_in": 3600, "token_type": "Bearer"})
    } else if url.contains("/serviceAccounts/") && known {
        json!({"email": EMAIL, "uniqueId": UNIQUE_ID, "projectId": "p1"})
    } else if url.ends_with("/instances/web-1") {
        json!({
            "id": "42", "name": "web-1", "status": "RUNNING", "creationTimestamp": "2027-01-15T07:58:20.000+00:00",
            "zone": "https://www.googleapis.com/compute/v1/projects/p1/zones/us-central1-a",
            "selfLink": "https://www.googleapis.com/compute/v1/projects/p1/zones/us-central1-a/instances/web-1",
            "serviceAccounts": [{"email": EMAIL}],
        })
    } else {
        return Ok(response(
            404,
            &json!({"error": {"code": 404, "message": "not found"}}),
        ));
    };
    Ok(response(200, &body))
}

fn response(status: u16, body: &Value) -> HttpResponse {
    HttpResponse {
        status,
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    }
}
