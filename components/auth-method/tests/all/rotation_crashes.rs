//! A rotation that is cut off after any step can be gone on with: contract 2.6.

use std::cell::Cell;
use std::time::Duration;

use gatehouse_auth_method::{AuthMethodService, Config, ConfigChanges, Rotated, RotationError};
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{
    Change, Check, CommitError, Entry, Http, HttpError, HttpRequest, HttpResponse, NoCache, Page,
    Store, StoreError,
};

use crate::google_credentials::{settings, stage};
use crate::rotation::key_in_use;
use crate::stage::{Stage, key_file};

/// How many effects an instance may have before it is cut off. The last one happens, and its outcome is lost.
struct Life(Cell<usize>);

impl Life {
    fn is_over(&self) -> bool {
        self.0.get() == 0
    }

    /// True if the effect's outcome gets lost.
    fn spend(&self) -> bool {
        self.0.set(self.0.get() - 1);
        self.is_over()
    }
}

fn gone() -> StoreError {
    StoreError::Unavailable("cut off".to_owned())
}

struct MortalStore<'a>(&'a MemoryStore<&'static ManualClock>, &'a Life);

impl Store for MortalStore<'_> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        if self.1.is_over() {
            return Err(gone());
        }
        self.0.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        if self.1.is_over() {
            return Err(gone());
        }
        self.0.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        if self.1.is_over() {
            return Err(gone().into());
        }
        let outcome = self.0.commit(checks, changes);
        if self.1.spend() {
            return Err(gone().into());
        }
        outcome
    }
}

struct MortalHttp<'a>(&'a ScriptedHttp, &'a Life);

impl Http for MortalHttp<'_> {
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        if self.1.is_over() {
            return Err(HttpError::TimedOut);
        }
        let outcome = self.0.send(request);
        if self.1.spend() {
            return Err(HttpError::TimedOut);
        }
        outcome
    }
}

/// A rotation by an instance that is cut off after `effects` commits and calls.
pub fn interrupted(stage: &Stage, effects: usize) -> Result<Rotated, RotationError> {
    let life = Life(Cell::new(effects));
    let service = AuthMethodService::new(
        MortalStore(stage.store, &life),
        NoCache,
        MortalHttp(stage.http, &life),
        stage.clock,
        SeededRandom::new(9),
        settings(),
    );
    service.rotate_root(&stage.mount)
}

#[test]
fn contract_2_6_a_rotation_cut_off_after_any_step_is_completed_by_the_next() {
    let mut effects = 0;
    loop {
        effects += 1;
        let (stage, google) = stage(settings());
        stage.configure(ConfigChanges {
            credentials: Some(key_file()),
            ..ConfigChanges::default()
        });
        let outcome = interrupted(&stage, effects);
        if outcome.is_ok() {
            break;
        }
        stage.clock.advance(Duration::from_secs(61));
        let completed = stage.service.rotate_root(&stage.mount).unwrap();
        let in_use = key_in_use(&stage);
        assert_eq!(completed.private_key_id, in_use, "after {effects}");
        assert_eq!(completed.key_left_behind, None);
        let report = stage.another_instance().check_config(&stage.mount, &[]);
        assert_eq!(report.unwrap().failure, None, "after {effects}");
        assert!(!stage.store.keys().contains(&"m1/rotation".to_owned()));
        let state = google.state();
        assert!(state.keys.contains_key(&in_use));
        assert!(!state.keys.contains_key("root-key"));
        // Only where the answer with the new key got lost is the key unknown to all instances.
        let lost = state.keys.len() - 1;
        assert_eq!(lost, usize::from(effects == 3), "after {effects}");
    }
    // Claim, token, new key, its record, proof, switch, token, deletion, end.
    assert_eq!(effects, 10);
}

/// An operator writes new credentials while the answer to a call is on its way.
struct Meddler<'a> {
    stage: &'a Stage,
    part: &'static str,
    /// How many such calls there are before it.
    after: Cell<usize>,
}

impl Http for Meddler<'_> {
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = self.stage.http.send(request);
        if request.url.contains(self.part) {
            match self.after.get() {
                0 => configure(self.stage),
                left => self.after.set(left - 1),
            }
        }
        answer
    }
}

fn configure(stage: &Stage) {
    stage.configure(ConfigChanges {
        credentials: Some(key_file()),
        ..ConfigChanges::default()
    });
}

#[test]
fn contract_2_6_credentials_written_during_a_rotation_stay_in_use() {
    // While the key is made, and while it is seen to work.
    for (part, after) in [("/keys", 0), ("oauth2", 1)] {
        let (stage, google) = stage(settings());
        configure(&stage);
        let http = Meddler {
            stage: &stage,
            part,
            after: Cell::new(after),
        };
        let random = SeededRandom::new(9);
        let service =
            AuthMethodService::new(stage.store, NoCache, http, stage.clock, random, settings());
        let outcome = service.rotate_root(&stage.mount);
        assert_eq!(outcome, Err(RotationError::ConfigurationChanged), "{part}");
        assert_eq!(key_in_use(&stage), "root-key");
        assert_eq!(stage.store.keys(), ["m1/config", "m1/credentials"]);
        assert_eq!(
            google.state().keys_deleted,
            ["made-1"],
            "nobody knows of it"
        );
        let report = stage.another_instance().check_config(&stage.mount, &[]);
        assert_eq!(report.unwrap().failure, None);
    }
}
