//! The auth method inside this program, by the library: over stores and HTTP clients of all sorts.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock, Mutex, mpsc};
use std::time::Duration;

use gatehouse::embed::interface::{
    Check, CheckReport, Config as _, ConfigChanges, IdentityTokens as _, Login as _, LoginError,
    LoginRequest, Mount, Precondition, RoleChanges, RoleError, Roles as _, Verdict,
};
use gatehouse::embed::ports::{
    Change, Check as Condition, Clock, CommitError, Entry, HttpError, HttpRequest, HttpResponse,
    NoCache, Page, Store, StoreError, SystemClock,
};
use gatehouse::embed::{AuthMethod, BuildError, Builder, Flavour, Limits};
use gatehouse::runtime::code_cache::CodeCache;
use gatehouse_components::{Part, bytes};
use gatehouse_fake_google::SigningKey;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp};
use tempfile::TempDir;

/// The program with which the documentation of the library begins.
#[path = "../../host/examples/judge_login.rs"]
mod judge_login;

const WORKLOAD: &str = "ci@my-project.iam.gserviceaccount.com";
const NOW: u64 = 1_900_000_000;

#[test]
fn the_example_fits_a_screen_and_judges_a_login() {
    let text = include_str!("../../host/examples/judge_login.rs");
    assert!(text.lines().count() <= 80);
    judge_login::main().unwrap();
}

/// A store that this test sees as well.
#[derive(Clone)]
struct Records(Arc<MemoryStore<SystemClock>>);

impl Store for Records {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.0.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.0.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Condition>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.0.commit(checks, changes)
    }
}

fn records() -> Records {
    Records(Arc::new(MemoryStore::new(SystemClock)))
}

fn nobody() -> ScriptedHttp {
    ScriptedHttp::new(|_| Err(HttpError::Denied))
}

/// Google's answer to the question for its keys.
fn publishing(
    key: &SigningKey,
) -> impl Fn(&HttpRequest) -> Result<HttpResponse, HttpError> + use<> {
    let keys = serde_json::json!({ key.key_id(): key.certificate_pem() });
    let body = keys.to_string().into_bytes();
    move |request| {
        assert_eq!(request.url, "https://www.googleapis.com/oauth2/v1/certs");
        assert_eq!(request.timeout, Limits::default().http_timeout);
        Ok(HttpResponse {
            status: 200,
            headers: Vec::new(),
            body: body.clone(),
        })
    }
}

fn mount() -> Mount {
    Mount {
        id: "m1".to_owned(),
        accessor: "auth_gcp_00000001".to_owned(),
        path: "gcp/".to_owned(),
        default_lease: 3600,
        maximum_lease: 86_400,
    }
}

/// Lets the workload in by what Google signed.
fn role() -> RoleChanges {
    RoleChanges {
        role_type: Some("iam".to_owned()),
        bound_service_accounts: Some(vec![WORKLOAD.to_owned()]),
        live_checks: Some(false),
        ..RoleChanges::default()
    }
}

fn jwt(key: &SigningKey, now: u64) -> String {
    let claims = serde_json::json!({
        "iss": "https://accounts.google.com",
        "sub": "117",
        "email": WORKLOAD,
        "email_verified": true,
        "aud": "http://vault/dev",
        "iat": now,
        "exp": now + 600,
    });
    key.sign_jwt(claims.as_object().unwrap()).unwrap()
}

fn request(jwt: &str) -> LoginRequest {
    LoginRequest {
        role: "dev".to_owned(),
        jwt: jwt.to_owned(),
        source_address: None,
    }
}

/// Compiled code for all tests here.
static CODE: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

fn limited(builder: Builder, memory: usize) -> Builder {
    let code = CodeCache::open(CODE.path().join("code")).unwrap();
    builder.code_cache(code).limits(Limits {
        memory,
        // A debug build of the host is slow; what is tested is not this limit.
        cpu_time: Duration::from_secs(60),
        ..Limits::default()
    })
}

fn patient(builder: Builder) -> Builder {
    limited(builder, Limits::default().memory)
}

fn with_role(builder: Builder) -> AuthMethod {
    let method = patient(builder).build().unwrap();
    let written = method.write_role(&mount(), "dev", role(), Precondition::MustBeNew);
    assert!(written.unwrap().created);
    method
}

#[test]
fn a_login_is_judged_by_what_the_program_gives_it_and_by_its_clock() {
    let key = SigningKey::generate("google").unwrap();
    let records = records();
    let google = ScriptedHttp::new(publishing(&key));
    let clock = Arc::new(Still(ManualClock::at_seconds(NOW)));
    let builder = AuthMethod::builder(records.clone(), google)
        .clock(clock.clone())
        .cache(NoCache)
        .flavour(Flavour::Portable);
    let method = with_role(builder);
    let stored = records.0.keys();
    assert_eq!(stored, ["m1/role-name/dev", "m1/role-names", "m1/role/dev"]);
    let jwt = jwt(&key, NOW);
    let identity = method.login(&mount(), &request(&jwt)).unwrap();
    assert_eq!(identity.display_name, WORKLOAD);

    clock.0.advance(Duration::from_secs(3600));
    let expired = method.login(&mount(), &request(&jwt));
    assert_eq!(expired, Err(LoginError::Expired));
    assert_eq!(records.0.keys(), stored, "a login stores nothing");
}

#[test]
fn an_address_of_either_family_counts_and_one_that_is_not_known_lies_in_no_network() {
    let key = SigningKey::generate("google").unwrap();
    let google = ScriptedHttp::new(publishing(&key));
    let method = with_role(AuthMethod::builder(records(), google));
    let bound = RoleChanges {
        token_bound_cidrs: Some(vec!["192.0.2.0/24".to_owned(), "2001:db8::/32".to_owned()]),
        ..RoleChanges::default()
    };
    let written = method.write_role(&mount(), "dev", bound, Precondition::Any);
    assert!(!written.unwrap().created);
    let jwt = jwt(&key, SystemClock.now_seconds());
    let from = |address: Option<&str>| {
        let address: Option<IpAddr> = address.map(|it| it.parse().unwrap());
        let mut request = request(&jwt);
        request.source_address = address.map(Into::into);
        method.login(&mount(), &request).map(|_| ())
    };
    for inside in ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1:2:3"] {
        assert_eq!(from(Some(inside)), Ok(()), "{inside}");
    }
    for outside in [Some("198.51.100.1"), Some("2001:db9::1"), None] {
        assert_eq!(from(outside), Err(LoginError::AddressNotAllowed));
    }
}

/// A clock whose sleepers do not wait.
struct Still(ManualClock);

impl Clock for Still {
    fn now_milliseconds(&self) -> u64 {
        self.0.now_milliseconds()
    }

    fn sleep(&self, _: Duration) {}
}

#[test]
fn any_number_of_threads_share_one_auth_method() {
    let key = SigningKey::generate("google").unwrap();
    let method = with_role(AuthMethod::builder(
        records(),
        ScriptedHttp::new(publishing(&key)),
    ));
    let jwt = jwt(&key, SystemClock.now_seconds());
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| method.login(&mount(), &request(&jwt)).unwrap());
        }
    });
}

#[tokio::test]
async fn calls_work_within_a_runtime_of_one_thread_and_it_may_be_dropped_there() {
    let method = patient(AuthMethod::builder(records(), nobody()))
        .build()
        .unwrap();
    let read = method.read_role(&mount(), "dev");
    assert_eq!(read, Ok(None));
    let method = Arc::new(method);
    let elsewhere = Arc::clone(&method);
    let listed = tokio::task::spawn_blocking(move || elsewhere.list_roles(&mount()));
    assert_eq!(listed.await.unwrap(), Ok(Vec::new()));
    drop(method);
}

#[tokio::test]
async fn one_task_makes_more_calls_than_its_budget_allows_it_to_wait() {
    let method = patient(AuthMethod::builder(records(), nobody()))
        .build()
        .unwrap();
    for _ in 0..300 {
        assert_eq!(method.read_role(&mount(), "dev"), Ok(None));
    }
}

#[test]
fn w3_a_call_beyond_the_memory_limit_fails_alone_and_changes_nothing() {
    let records = records();
    let builder = AuthMethod::builder(records.clone(), nobody());
    let method = limited(builder, 4 << 20).build().unwrap();
    let large = RoleChanges {
        bound_projects: Some(vec!["p".repeat(8 << 20)]),
        ..role()
    };
    let refused = method.write_role(&mount(), "dev", large, Precondition::Any);
    let Err(RoleError::Storage(refused)) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        refused.to_string().contains("the component failed"),
        "{refused}"
    );
    assert!(records.0.keys().is_empty());
    assert_eq!(method.list_roles(&mount()), Ok(Vec::new()));
}

#[test]
fn a_call_that_gives_no_answer_shows_in_an_explanation() {
    let builder = AuthMethod::builder(records(), nobody());
    let method = limited(builder, 4 << 20).build().unwrap();
    let reports = method.explain(&mount(), &request(&"x".repeat(8 << 20)));
    let [CheckReport { check, verdict, .. }] = &reports[..] else {
        panic!("{reports:?}");
    };
    assert_eq!(*check, Check::Role);
    assert!(
        matches!(verdict, Verdict::Failed(LoginError::Storage(_))),
        "{verdict:?}"
    );
}

#[test]
fn what_the_store_says_is_what_the_caller_is_told() {
    let records = records();
    let method = patient(AuthMethod::builder(records.clone(), nobody()));
    let method = method.build().unwrap();
    let full = StoreError::Unavailable("the disk is full".to_owned());
    records
        .0
        .fail_next_commit(CommitError::Failed(full.clone()));
    let refused = method.write_role(&mount(), "dev", role(), Precondition::Any);
    assert_eq!(refused, Err(RoleError::Storage(full.into())));
    assert!(records.0.keys().is_empty());
}

#[test]
fn what_goes_wrong_on_the_way_to_google_is_told_from_what_google_says() {
    let key = SigningKey::generate("google").unwrap();
    let jwt = jwt(&key, SystemClock.now_seconds());
    let name = |error| match error {
        LoginError::EndpointDenied(_) => "denied",
        LoginError::GoogleUnavailable(_) => "unavailable",
        LoginError::GoogleUnusable(_) => "unusable",
        other => panic!("{other:?}"),
    };
    for (outcome, expected) in [
        (Err(HttpError::Denied), "denied"),
        (Err(HttpError::TimedOut), "unavailable"),
        (Err(HttpError::Failed("cut off".to_owned())), "unavailable"),
        (Err(HttpError::TooLarge), "unusable"),
        (Ok((200, "no document")), "unusable"),
        (Ok((503, "")), "unavailable"),
        // Answers that are none.
        (Ok((42, "")), "unavailable"),
    ] {
        let answer = outcome.clone().map(|(status, body)| HttpResponse {
            status,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        });
        let google = ScriptedHttp::new(move |_| answer.clone());
        let method = with_role(AuthMethod::builder(records(), google));
        let refused = method.login(&mount(), &request(&jwt)).unwrap_err();
        assert_eq!(name(refused), expected, "{outcome:?}");
    }
}

#[test]
fn a_panic_in_the_http_client_is_an_outage_of_google_for_its_call_alone() {
    let key = SigningKey::generate("google").unwrap();
    let jwt = jwt(&key, SystemClock.now_seconds());
    let google = ScriptedHttp::new(|_| panic!("as intended"));
    let method = with_role(AuthMethod::builder(records(), google));
    let refused = method.login(&mount(), &request(&jwt));
    assert!(
        matches!(refused, Err(LoginError::GoogleUnavailable(_))),
        "{refused:?}"
    );
    assert_eq!(method.list_roles(&mount()), Ok(vec!["dev".to_owned()]));
}

#[test]
fn settings_are_environment_variables() {
    let records = records();
    let method = patient(AuthMethod::builder(records, nobody()))
        .variable("GATEHOUSE_ADVERTISED_ADDRESS", "https://gate.example.com")
        .build()
        .unwrap();
    let issuer = method.issuer().unwrap();
    assert!(issuer.starts_with("https://gate.example.com/"), "{issuer}");
    let changes = ConfigChanges {
        iam_alias: Some("unique_id".to_owned()),
        ..ConfigChanges::default()
    };
    assert_eq!(method.write_config(&mount(), changes), Ok(Vec::new()));
}

#[test]
fn a_component_that_lacks_something_is_refused_with_what_would_provide_it() {
    let gateway = bytes(Part::Gateway, Flavour::Portable).unwrap();
    let builder = AuthMethod::builder(records(), nobody()).component(gateway);
    let Err(BuildError::MissingImports(missing)) = builder.build() else {
        panic!("the gateway needs more than a store");
    };
    let lines = missing.to_string();
    for needed in [
        "gatehouse:auth-method/login@0.1.0: the component auth-method exports it",
        "gatehouse:access/tokens@0.1.0: the component access exports it",
        "gatehouse:orgs/organizations@0.1.0: the component orgs exports it",
        "gatehouse:host/seal@0.1.0: give it the services of a server",
    ] {
        assert!(lines.contains(needed), "{lines}");
    }
    assert!(!lines.contains("wasi:"), "{lines}");
}

/// A store that answers for one key more than it is asked for.
struct OneTooMany(Records);

impl Store for OneTooMany {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let mut entries = self.0.get(keys)?;
        entries.insert(0, None);
        Ok(entries)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.0.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Condition>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.0.commit(checks, changes)
    }
}

#[test]
fn a_store_that_gives_an_entry_too_many_is_not_believed() {
    let records = records();
    let method = with_role(AuthMethod::builder(records.clone(), nobody()));
    assert!(method.read_role(&mount(), "dev").unwrap().is_some());
    let method = patient(AuthMethod::builder(OneTooMany(records), nobody()));
    let method = method.build().unwrap();
    let refused = method.read_role(&mount(), "dev").unwrap_err();
    assert!(
        format!("{refused:?}").contains("not one entry for each key"),
        "{refused:?}"
    );
}

#[test]
fn a_call_whose_http_client_never_answers_is_given_up_and_the_next_one_works() {
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let http = ScriptedHttp::new(move |_| {
        let _ = held.lock().unwrap().recv();
        Err(HttpError::TimedOut)
    });
    let builder = patient(AuthMethod::builder(records(), http)).limits(Limits {
        instances: 1,
        wall_time: Duration::from_secs(2),
        cpu_time: Duration::from_secs(60),
        ..Limits::default()
    });
    let method = builder.build().unwrap();
    let mut writes = (0..20).map(|_| method.write_role(&mount(), "dev", role(), Precondition::Any));
    assert!(writes.any(|written| written.is_ok()));
    let key = SigningKey::generate("google").unwrap();
    let jwt = jwt(&key, SystemClock.now_seconds());
    let refused = method.login(&mount(), &request(&jwt)).unwrap_err();
    assert!(
        format!("{refused:?}").contains("given up after 2s"),
        "{refused:?}"
    );
    drop(release);
    let mut reads = (0..20).map(|_| method.read_role(&mount(), "dev"));
    assert!(reads.any(|role| role.is_ok_and(|role| role.is_some())));
}

#[test]
fn limits_that_this_machine_cannot_give_are_named_as_the_embedder_knows_them() {
    let builder = limited(AuthMethod::builder(records(), nobody()), 8 << 30);
    let Err(refused) = builder.build() else {
        panic!("no instance can have 8 GiB");
    };
    let text = refused.to_string();
    assert!(matches!(refused, BuildError::Engine(_)), "{text}");
    assert!(text.contains("Limits::memory"), "{text}");
    assert!(!text.contains("[limits]"), "{text}");
}

#[test]
fn what_is_no_auth_method_is_refused() {
    for (wasm, expected) in [
        (Cow::Borrowed(&b"nonsense"[..]), "not a component"),
        (
            Cow::Owned(wat::parse_str("(component)").unwrap()),
            "one release",
        ),
        (
            Cow::Borrowed(bytes(Part::Orgs, Flavour::Wide).unwrap()),
            "one release",
        ),
    ] {
        let refused = AuthMethod::builder(records(), nobody()).component(wasm);
        let Err(refused) = refused.build() else {
            panic!("{expected}");
        };
        assert!(refused.to_string().contains(expected), "{refused}");
    }
}

#[expect(dead_code, reason = "what must hold is that it compiles")]
const fn it_may_be_shared_by_threads(method: &AuthMethod) -> &(dyn Send + Sync) {
    method
}
