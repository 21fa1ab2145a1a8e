//! The cost of refused inputs, counted and not timed: SEC-J18, J21.

use std::cell::Cell;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_auth_method::{
    AuthMethodService, JwtError, Login, LoginError, LoginRequest, Settings,
};
use gatehouse_ports::doubles::{CountingStore, ManualClock, SeededRandom, StoreCounts};
use gatehouse_ports::{Clock, NoCache, Random, RandomError};
use serde_json::json;

use crate::keys::{self, Token, compact_parts};
use crate::stage::Stage;

/// Longest token that is read, in bytes.
const LONGEST: usize = 16 * 1024;

/// Counts what a login asks of its clock and its source of randomness.
#[derive(Default)]
struct Tally {
    random_bytes: Cell<usize>,
    sleeps: Cell<usize>,
    times: Cell<usize>,
}

fn count(cell: &Cell<usize>, by: usize) {
    cell.set(cell.get() + by);
}

struct Counted<'a, T>(T, &'a Tally);

impl Clock for Counted<'_, &'static ManualClock> {
    fn now_milliseconds(&self) -> u64 {
        count(&self.1.times, 1);
        self.0.now_milliseconds()
    }

    fn sleep(&self, duration: Duration) {
        count(&self.1.sleeps, 1);
        self.0.sleep(duration);
    }
}

impl Random for Counted<'_, SeededRandom> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        count(&self.1.random_bytes, bytes.len());
        self.0.fill(bytes)
    }
}

fn compact(header: &str, claims: &str) -> String {
    format!("{}.AAAA", compact_parts(header, claims))
}

/// `begin`, as many of `middle` as a token can hold, and `end`.
fn filled(begin: &str, middle: &str, end: &str) -> String {
    let room = LONGEST * 3 / 4 - 512 - begin.len() - end.len();
    format!("{begin}{}{end}", middle.repeat(room / middle.len()))
}

/// Distinct members, as many as a token can hold: what takes longest to find a duplicate in.
fn members(last: &str) -> String {
    let mut text = String::from("{");
    for number in 0.. {
        if text.len() + last.len() > LONGEST * 3 / 4 - 512 {
            break;
        }
        text.push_str(&format!("\"{number:x}\":0,"));
    }
    format!("{text}{last}}}")
}

/// Inputs that are long, deep, wide, nearly right, or repeat themselves, none of which reaches a key.
fn corpus() -> Vec<String> {
    let header = Token::of_account().header.to_string();
    let claims = Token::of_account().claims.to_string();
    let with = |name: &str, raw: &str| {
        let rest = claims.trim_start_matches('{');
        compact(&header, &format!("{{\"x-{name}\":{raw},{rest}"))
    };
    let beyond = [LONGEST + 1, 100 * LONGEST, 1024 * 1024];
    let mut inputs: Vec<String> = Vec::new();
    for bytes in beyond {
        inputs.extend(["a", ".", " a", "A.", "="].map(|part| part.repeat(bytes / part.len() + 1)));
    }
    inputs.extend([
        ".".repeat(LONGEST),
        "A".repeat(LONGEST),
        "=".repeat(LONGEST),
    ]);
    inputs.push(format!(
        "{}.{}.A",
        "A".repeat(LONGEST / 2 - 2),
        "A".repeat(LONGEST / 2 - 2)
    ));
    let objects = [
        filled("{\"a\":", "[", ""),
        filled("{\"a\":", "{\"a\":", ""),
        filled("{\"a\":[", "[],", "[]]}"),
        filled("{\"a\":[", "0,", "0]}"),
        filled("{\"a\":\"", "\\u0041", "\"}"),
        filled("{\"a\":\"", "\\\\", "\"}"),
        filled("{\"a\":\"", "\\ud83d\\ude00", "\"}"),
        filled("{\"a\":\"", "\u{e9}", "\"}"),
        filled("{\"a\":", "9", "}"),
        filled("{\"a\":0.", "0", "1}"),
        filled("{\"a\":1e", "9", "}"),
        filled("{", "\"a\":0,", "\"a\":0}"),
        filled("", " ", "{}"),
        filled("{", "\t\r\n ", "}"),
        members("\"0\":0"),
        members("\"z\":0"),
    ];
    for object in &objects {
        inputs.push(compact(object, &claims));
        inputs.push(compact(&header, object));
    }
    let wide = format!("[{}]", vec!["\"vault/dev\""; 1000].join(","));
    let audience = json!({"sub": "a@x", "exp": crate::stage::NOW + 60, "aud": "AUD"});
    inputs.push(compact(
        &header,
        &audience.to_string().replace("\"AUD\"", &wide),
    ));
    let subject =
        json!({"aud": "vault/dev", "exp": crate::stage::NOW + 60, "sub": "a".repeat(9000)});
    inputs.push(compact(&header, &subject.to_string()));
    let key_id = json!({"alg": "RS256", "kid": "k".repeat(9000)});
    inputs.push(compact(&key_id.to_string(), &claims));
    // Right in all but the time, with as much beside it as there is room for.
    let expired = claims.replace(&(crate::stage::NOW + 600).to_string(), "1");
    let bulk = "9".repeat(LONGEST / 2);
    inputs.push(compact(
        &header,
        &expired.replacen('{', &format!("{{\"x\":\"{bulk}\","), 1),
    ));
    inputs.push(with(
        "deep",
        &format!("{}{}", "[".repeat(16), "]".repeat(16)),
    ));
    inputs
}

#[test]
fn j21_j18_the_worst_of_refused_inputs_cost_two_reads_and_nothing_else() {
    let stage = Stage::ready();
    for (number, jwt) in corpus().into_iter().enumerate() {
        let tally = Tally::default();
        let store = CountingStore::new(stage.store);
        let service = AuthMethodService::new(
            &store,
            NoCache,
            stage.http,
            Counted(stage.clock, &tally),
            Counted(SeededRandom::new(3), &tally),
            Settings::default(),
        );
        let request = LoginRequest {
            role: "dev".to_owned(),
            jwt,
            source_address: None,
        };
        let before = stage.http.urls().len();
        let refused = service.login(&stage.mount, &request).unwrap_err();
        let shown = format!("{number}: {refused}");
        let is_of_form = matches!(
            refused,
            LoginError::MalformedJwt(_)
                | LoginError::Expired
                | LoginError::SubjectMissing
                | LoginError::AudienceNotForRole(_)
                | LoginError::KeyNotFound(_)
        );
        assert!(is_of_form, "{shown}");
        assert_eq!(stage.http.urls().len(), before, "{shown}");
        // The configuration and the role, in one read.
        let StoreCounts {
            keys_read,
            scans,
            commits,
            ..
        } = store.take_counts();
        assert_eq!((keys_read, scans, commits), (2, 0, 0), "{shown}");
        let none = [&tally.sleeps, &tally.random_bytes];
        assert_eq!(none.map(Cell::get), [0; 2], "{shown}");
        assert!(tally.times.get() <= 4, "{shown}: {}", tally.times.get());
        // A refusal repeats little of what it refuses.
        assert!(shown.len() < 2048, "{shown}");
    }
}

#[test]
fn j21_wrong_signatures_cost_the_documents_once_and_no_more_reads_than_a_login() {
    let stage = Stage::ready();
    let good = Token::of_account().signed_by(keys::of_account());
    stage.log_in(&good).unwrap();
    let calls = stage.http.urls().len();
    let input = Token::of_account().signing_input();
    for bytes in [1, 255, 256, 257, 512, 8192] {
        for fill in [0x00, 0x01, 0xff] {
            let signature = URL_SAFE_NO_PAD.encode(vec![fill; bytes]);
            let (refused, _) = stage.refuse(&format!("{input}.{signature}"));
            let too_long = LoginError::MalformedJwt(JwtError::TooLong);
            assert!(
                [LoginError::SignatureInvalid, too_long].contains(&refused),
                "{bytes}: {refused}"
            );
        }
    }
    assert_eq!(stage.http.urls().len(), calls);
}
