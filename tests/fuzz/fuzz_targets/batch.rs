//! Texts that are presented as tokens, batch tokens above all: those carry their record themselves.
//!
//! Properties (SEC-T8, V1): nothing panics, and no text is taken for a token but one that was issued, in the spelling in which it was.
//!
//! The first byte selects how the text comes about: as it is, or from tokens that were issued, so that the fuzzer begins where everything
//! is right.

#![no_main]

use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_access::{
    AccessService, AdmissionError, LoginGrant, Logins as _, MountRequest, Mounts as _, Operation,
    Request, Requests as _, System as _, TokenLookup as _, TokenParameters, TokenReference,
    TokenType,
};
use gatehouse_ports::doubles::{ManualClock, MemoryStore, SeededRandom};
use libfuzzer_sys::fuzz_target;

const ROOT: &str = "root-for-tests";
const PREFIX: &str = "hvb.";
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

type Service = AccessService<MemoryStore<&'static ManualClock>, &'static ManualClock, SeededRandom>;

struct World {
    access: Service,
    /// Two batch tokens under each of two keys.
    batch: Vec<String>,
    /// Everything that was issued.
    issued: Vec<String>,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let clock: &'static ManualClock =
            Box::leak(Box::new(ManualClock::at_seconds(1_700_000_000)));
        let access = AccessService::new(MemoryStore::new(clock), clock, SeededRandom::new(1));
        access.initialize(Some(ROOT)).ok().expect("an empty store");
        let gcp = MountRequest {
            mount_type: "gcp".to_owned(),
            ..MountRequest::default()
        };
        access.enable_mount("gcp", &gcp).expect("a mount");
        let log_in = |token_type| {
            let grant = grant(&access, token_type);
            let issued = access.issue_login(&grant).ok().expect("a login");
            issued.client_token.clone()
        };
        let mut batch = Vec::new();
        for _ in 0..2 {
            batch.extend([TokenType::Batch; 2].map(log_in));
            // The key has issued long enough then, and still opens what it has sealed.
            clock.advance(WEEK);
        }
        let mut issued = batch.clone();
        issued.extend([log_in(TokenType::Service), ROOT.to_owned()]);
        World {
            access,
            batch,
            issued,
        }
    })
}

fn grant(access: &Service, token_type: TokenType) -> LoginGrant {
    let admission = access.admit(&request(None, "auth/gcp/login"));
    let mount = admission.expect("a login").mount.expect("a mount");
    LoginGrant {
        mount_id: mount.id,
        mount_path: mount.path,
        role: "dev".to_owned(),
        alias_name: "1234".to_owned(),
        metadata: Vec::new(),
        display_name: "dev@p1.example".to_owned(),
        group_aliases: None,
        parameters: TokenParameters {
            token_type: Some(token_type),
            ..TokenParameters::default()
        },
        renewal_state: Vec::new(),
        source_address: None,
    }
}

fn request(token: Option<&str>, path: &str) -> Request {
    Request {
        token: token.map(str::to_owned),
        operation: Operation::Update,
        path: path.to_owned(),
        source_address: None,
        wrap_ttl: None,
        parameters: None,
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, input)) = input.split_first() else {
        return;
    };
    let world = world();
    let text = match choice % 4 {
        0 => String::from_utf8_lossy(input).into_owned(),
        1 => format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(input)),
        2 => edited(world, input),
        _ => joined(world, input),
    };
    let is_issued = world.issued.contains(&text);
    let found = world.access.lookup_token(&TokenReference::Id(text.clone()));
    assert_eq!(found.is_ok(), is_issued, "{text:?}");
    let admitted = world
        .access
        .admit(&request(Some(&text), "auth/token/lookup-self"));
    let is_unknown = matches!(admitted, Err(AdmissionError::InvalidToken));
    assert!(is_issued || is_unknown || text.is_empty(), "{text:?}");
});

/// A token, chosen by the first byte, with the bytes that follow added to what it stands for; further bytes make it longer.
fn edited(world: &World, input: &[u8]) -> String {
    let Some((token, edits)) = input.split_first() else {
        return String::new();
    };
    let mut bytes = bytes_of(&world.batch[usize::from(*token) % world.batch.len()]);
    bytes.resize(bytes.len().max(edits.len()), 0);
    for (byte, edit) in bytes.iter_mut().zip(edits) {
        *byte ^= edit;
    }
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// Pieces of tokens, each chosen by three bytes: which token, from where on, and how much of it.
fn joined(world: &World, input: &[u8]) -> String {
    let mut bytes = Vec::new();
    for piece in input.chunks_exact(3) {
        let token = bytes_of(&world.batch[usize::from(piece[0]) % world.batch.len()]);
        let rest = token.get(usize::from(piece[1])..).unwrap_or_default();
        let length = match usize::from(piece[2]) {
            255 => rest.len(),
            length => length.min(rest.len()),
        };
        bytes.extend_from_slice(&rest[..length]);
    }
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

fn bytes_of(token: &str) -> Vec<u8> {
    let sealed = token.strip_prefix(PREFIX).expect("a batch token");
    URL_SAFE_NO_PAD.decode(sealed).expect("base64url")
}
