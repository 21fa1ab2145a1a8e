//! The auth method alone, over a store in memory and a Google on loopback.

use std::future::ready;
use std::sync::Arc;

use gatehouse::outbound::{Outbound, OutboundHooks};
use gatehouse::runtime::state::InstanceState;
use gatehouse::settings::Settings;
use gatehouse_components::{Flavour, Part};
use gatehouse_fake_google::{Endpoint, FakeGoogle, FakeGoogleOptions, Population};
use gatehouse_store::Namespace;
use http_body_util::{BodyExt, Full};
use wasmtime::Store;
use wasmtime_wasi_http::{Error as HttpError, RequestOptions, WasiBody, WasiHttpHooks};

use crate::surroundings::Surroundings;
use bindings::AuthMethod;
use bindings::exports::gatehouse::auth_method::config::ConfigChanges;
use bindings::exports::gatehouse::auth_method::login::{Identity, LoginError, LoginRequest};
use bindings::exports::gatehouse::auth_method::roles::{
    Precondition, RoleChanges, RoleError, RoleWritten,
};
use bindings::exports::gatehouse::auth_method::types::Mount;
use bindings::gatehouse::network::addresses::IpAddress;

/// The component under test.
pub const SUBJECT: Part = Part::AuthMethod;

const WORKLOAD: &str = Population::WORKLOAD;

mod bindings {
    wasmtime::component::bindgen!({
        path: [
            "../wit/deps/io",
            "../wit/deps/clocks",
            "../wit/deps/random",
            "../wit/deps/filesystem",
            "../wit/deps/sockets",
            "../wit/deps/cli",
            "../wit/deps/http",
            "../wit/network",
            "../wit/storage",
            "../wit/auth-method",
        ],
        world: "gatehouse:auth-method/auth-method",
        with: {
            "wasi:http": wasmtime_wasi_http::p2::bindings::http,
            "wasi:io": wasmtime_wasi::p2::bindings::io,
            "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        },
        exports: { default: async },
        additional_derives: [PartialEq],
    });
}

/// One instance, and what it can reach.
struct Alone {
    surroundings: Surroundings,
    store: Store<InstanceState>,
    component: AuthMethod,
}

impl Alone {
    /// Without a network.
    async fn new(flavour: Flavour) -> Self {
        Self::within(Surroundings::new(), flavour).await
    }

    /// With `google` for Google, and a mount whose credentials and role `dev` are set.
    async fn before(google: &FakeGoogle, flavour: Flavour) -> Self {
        Self::before_through(google, flavour, |hooks| Box::new(hooks)).await
    }

    /// The same with something between the component and Google.
    async fn before_through(
        google: &FakeGoogle,
        flavour: Flavour,
        through: fn(OutboundHooks) -> Box<dyn WasiHttpHooks>,
    ) -> Self {
        let mut surroundings = Surroundings::new();
        let settings = "storage.type = \"memory\"\ngoogle.allow_http_loopback = true";
        let settings = Settings::from_text(settings, Vec::new(), Vec::new()).unwrap();
        let outbound = Arc::new(Outbound::new(&settings.google, &settings.limits).unwrap());
        surroundings.grants.outbound =
            Arc::new(move || through(OutboundHooks::new(Arc::clone(&outbound))));
        surroundings.grants.environment = vec![
            ("GATEHOUSE_GOOGLE_TOKEN_URL".to_owned(), google.token_url()),
            (
                "GATEHOUSE_GOOGLE_ALLOW_HTTP_LOOPBACK".to_owned(),
                "true".to_owned(),
            ),
        ];
        let mut alone = Self::within(surroundings, flavour).await;
        alone.configure(google).await;
        alone.write_role(dev_role()).await.unwrap();
        alone
    }

    async fn within(surroundings: Surroundings, flavour: Flavour) -> Self {
        let (component, linker) = surroundings.load(SUBJECT, flavour);
        let mut store = surroundings.store();
        let component = AuthMethod::instantiate_async(&mut store, &component, &linker);
        let component = component.await.unwrap();
        Self {
            surroundings,
            store,
            component,
        }
    }

    async fn configure(&mut self, google: &FakeGoogle) {
        let endpoint = |name: &str| (name.to_owned(), google.base_url());
        let changes = ConfigChanges {
            credentials: Some(google.credentials_json(Population::SERVER_ROOT).unwrap()),
            iam_alias: None,
            gce_alias: None,
            iam_metadata: None,
            gce_metadata: None,
            custom_endpoint: Some(vec![endpoint("api"), endpoint("iam")]),
            service_account_email: None,
            identity_token_audience: None,
            identity_token_ttl: None,
            rotation_schedule: None,
            rotation_period: None,
            rotation_window: None,
            rotation_policy: None,
            disable_automated_rotation: None,
        };
        let (config, mount) = (self.component.gatehouse_auth_method_config(), mount());
        let written = config.call_write(&mut self.store, &mount, &changes);
        written.await.unwrap().unwrap();
    }

    async fn write_role(&mut self, changes: RoleChanges) -> Result<RoleWritten, RoleError> {
        let (roles, mount) = (self.component.gatehouse_auth_method_roles(), mount());
        let any = Precondition::Any;
        let written = roles.call_write(&mut self.store, &mount, "dev", &changes, any);
        written.await.unwrap()
    }

    async fn log_in(&mut self, jwt: &str) -> Result<Identity, LoginError> {
        let request = LoginRequest {
            role: "dev".to_owned(),
            jwt: jwt.to_owned(),
            source_address: Some(IpAddress::Ipv4((192, 0, 2, 1))),
        };
        let login = self.component.gatehouse_auth_method_login();
        login
            .call_login(&mut self.store, &mount(), &request)
            .await
            .unwrap()
    }

    async fn keys(&self) -> Vec<String> {
        self.surroundings.keys(Namespace::AuthMethod).await
    }
}

async fn google() -> FakeGoogle {
    FakeGoogle::start(FakeGoogleOptions::default())
        .await
        .unwrap()
}

fn mount() -> Mount {
    Mount {
        id: "m1".to_owned(),
        accessor: "auth_gcp_00000001".to_owned(),
        path: "gcp/".to_owned(),
        default_lease: 2_764_800,
        maximum_lease: 2_764_800,
    }
}

/// The workload may log in, and gets policy `dev`.
fn dev_role() -> RoleChanges {
    RoleChanges {
        role_type: Some("iam".to_owned()),
        bound_service_accounts: Some(vec![WORKLOAD.to_owned()]),
        token_policies: Some(vec!["dev".to_owned()]),
        ..nothing()
    }
}

/// A write that sends no field.
const fn nothing() -> RoleChanges {
    RoleChanges {
        role_type: None,
        bound_service_accounts: None,
        service_accounts: None,
        bound_projects: None,
        project_id: None,
        add_group_aliases: None,
        max_jwt_exp: None,
        allow_gce_inference: None,
        bound_zones: None,
        bound_regions: None,
        bound_instance_groups: None,
        bound_labels: None,
        bound_zone: None,
        bound_region: None,
        bound_instance_group: None,
        token_ttl: None,
        token_max_ttl: None,
        token_explicit_max_ttl: None,
        token_period: None,
        token_policies: None,
        token_bound_cidrs: None,
        token_no_default_policy: None,
        token_num_uses: None,
        token_type: None,
        policies: None,
        ttl: None,
        max_ttl: None,
        period: None,
        bound_folders: None,
        bound_organizations: None,
        bound_audiences: None,
        alias_source: None,
        refuse_replay: None,
        live_checks: None,
        max_instance_age: None,
    }
}

/// The claims of one token under the signature of another one by the same key.
fn with_signature_of(claims: &str, signature: &str) -> String {
    let (signed, _) = claims.rsplit_once('.').unwrap();
    let (_, signature) = signature.rsplit_once('.').unwrap();
    format!("{signed}.{signature}")
}

#[tokio::test]
async fn a_role_is_stored_and_one_without_accounts_is_not() {
    for flavour in Flavour::ALL {
        let mut alone = Alone::new(flavour).await;
        let changes = RoleChanges {
            role_type: Some("iam".to_owned()),
            ..nothing()
        };
        assert_eq!(
            alone.write_role(changes).await,
            Err(RoleError::NoServiceAccounts)
        );
        assert!(alone.keys().await.is_empty());

        let written = alone.write_role(dev_role()).await.unwrap();
        assert!(
            written.created && written.warnings.is_empty(),
            "{written:?}"
        );
        assert_eq!(
            alone.keys().await,
            ["m1/role-name/dev", "m1/role-names", "m1/role/dev"]
        );
    }
}

#[tokio::test]
async fn an_account_logs_in_with_what_google_says_and_nothing_is_stored() {
    let google = google().await;
    for flavour in Flavour::ALL {
        let mut alone = Alone::before(&google, flavour).await;
        let before = alone.surroundings.entries(Namespace::AuthMethod).await;
        assert_eq!(
            alone.keys().await,
            [
                "m1/config",
                "m1/credentials",
                "m1/role-name/dev",
                "m1/role-names",
                "m1/role/dev"
            ]
        );
        google.forget_requests();

        let jwt = google.sign_login_jwt(WORKLOAD, "dev").unwrap();
        let identity = alone.log_in(&jwt).await.unwrap();
        assert_eq!(
            (identity.role.as_str(), identity.display_name.as_str()),
            ("dev", WORKLOAD)
        );
        assert_eq!(identity.token.policies, ["dev"]);
        assert_eq!(
            alone.surroundings.entries(Namespace::AuthMethod).await,
            before
        );
        let asked: Vec<Endpoint> = google
            .requests()
            .into_iter()
            .map(|request| request.endpoint)
            .collect();
        assert_eq!(
            asked,
            [
                Endpoint::GoogleCertificates,
                Endpoint::AccountCertificates,
                Endpoint::Token,
                Endpoint::ServiceAccount,
            ]
        );
    }
}

#[tokio::test]
async fn forged_tokens_are_refused_and_nothing_is_stored() {
    let google = google().await;
    let honest = google.sign_login_jwt(WORKLOAD, "dev").unwrap();
    let for_another_role = google.sign_login_jwt(WORKLOAD, "other").unwrap();
    let signature_moved = with_signature_of(&honest, &for_another_role);
    let claims = FakeGoogle::login_claims(WORKLOAD, "dev");
    let by_a_stranger = google.sign_jwt(Population::SERVER_ROOT, &claims).unwrap();
    for flavour in Flavour::ALL {
        let mut alone = Alone::before(&google, flavour).await;
        let before = alone.surroundings.entries(Namespace::AuthMethod).await;
        google.forget_requests();

        let refused = alone.log_in(&signature_moved).await;
        assert_eq!(refused, Err(LoginError::SignatureInvalid));
        let refused = alone.log_in(&by_a_stranger).await;
        assert!(
            matches!(refused, Err(LoginError::KeyNotFound(_))),
            "{refused:?}"
        );
        let refused = alone.log_in(&for_another_role).await;
        assert_eq!(
            refused,
            Err(LoginError::AudienceNotForRole("dev".to_owned()))
        );

        assert_eq!(
            google.calls(Endpoint::ServiceAccount),
            0,
            "no account was looked up"
        );
        assert_eq!(
            alone.surroundings.entries(Namespace::AuthMethod).await,
            before
        );
    }
}

#[tokio::test]
async fn a_login_that_the_host_lets_reach_nobody_is_refused() {
    let google = google().await;
    let jwt = google.sign_login_jwt(WORKLOAD, "dev").unwrap();
    for flavour in Flavour::ALL {
        let mut alone = Alone::new(flavour).await;
        alone.write_role(dev_role()).await.unwrap();
        let refused = alone.log_in(&jwt).await;
        assert!(
            matches!(refused, Err(LoginError::EndpointDenied(_))),
            "{refused:?}"
        );
    }
}

type Driver = Box<dyn Future<Output = Result<(), HttpError>> + Send>;
type Posted = fn() -> Result<http::Response<WasiBody>, HttpError>;
type Sending =
    Box<dyn Future<Output = Result<(http::Response<WasiBody>, Driver), HttpError>> + Send>;

/// Lets go of what is posted before it has read any of it, as a host does that needs no more of it.
struct UnreadPosts(OutboundHooks, Posted);

impl WasiHttpHooks for UnreadPosts {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        driver: Driver,
    ) -> Sending {
        let Self(others, posted) = self;
        if request.method() != http::Method::POST {
            return others.send_request(request, options, driver);
        }
        drop(request);
        let answer = posted();
        Box::new(async { Ok((answer?, Box::new(ready(Ok(()))) as Driver)) })
    }

    fn set_host_header(&mut self) -> bool {
        self.0.set_host_header()
    }
}

fn denied() -> Result<http::Response<WasiBody>, HttpError> {
    Err(HttpError::HttpRequestDenied)
}

fn refused() -> Result<http::Response<WasiBody>, HttpError> {
    let body = Full::from(r#"{"error":"invalid_grant"}"#).map_err(|never| match never {});
    let answer = http::Response::builder().status(400);
    Ok(answer.body(body.boxed_unsync()).unwrap())
}

#[tokio::test]
async fn of_a_request_whose_body_the_host_lets_go_of_the_answer_counts() {
    let google = google().await;
    let jwt = google.sign_login_jwt(WORKLOAD, "dev").unwrap();
    for flavour in Flavour::ALL {
        let through = |hooks| Box::new(UnreadPosts(hooks, denied)) as Box<dyn WasiHttpHooks>;
        let mut alone = Alone::before_through(&google, flavour, through).await;
        let told = alone.log_in(&jwt).await;
        assert_eq!(told, Err(LoginError::EndpointDenied("oauth2".to_owned())));

        let through = |hooks| Box::new(UnreadPosts(hooks, refused)) as Box<dyn WasiHttpHooks>;
        let mut alone = Alone::before_through(&google, flavour, through).await;
        let told = alone.log_in(&jwt).await;
        assert!(matches!(told, Err(LoginError::Credentials(_))), "{told:?}");
    }
}
