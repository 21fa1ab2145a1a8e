//! Background work of small components that do one thing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;
use wasmtime::component::Component;

use super::*;
use crate::metrics::ServerMetrics;
use crate::runtime::linker::linker;
use crate::runtime::services::Metrics as _;
use crate::runtime::state::no_grants;
use gatehouse_engine::{EngineSettings, engine};

const INTERVAL: Duration = Duration::from_secs(60);

/// A duty that fails.
const FAILS: &str = "i32.const 1 return";

/// A log whose lines are kept.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl std::io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Written {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// A component with two duties: `first` does what `code` says and ends well unless that returns 1, `second` counts. `$count` tells the host of it, `$wait` never returns.
fn component(code: &str) -> String {
    format!(
        r#"(component
  (import "count" (func $count))
  (import "wait" (func $wait))
  (core func $count' (canon lower (func $count)))
  (core func $wait' (canon lower (func $wait)))
  (core module $code
    (import "host" "count" (func $count))
    (import "host" "wait" (func $wait))
    (func (export "first") (result i32) {code} i32.const 0)
    (func (export "second") (result i32) call $count i32.const 0))
  (core instance $code (instantiate $code
    (with "host" (instance (export "count" (func $count')) (export "wait" (func $wait'))))))
  (func $first (result (result)) (canon lift (core func $code "first")))
  (func $second (result (result)) (canon lift (core func $code "second")))
  (instance $background (export "first" (func $first)) (export "second" (func $second)))
  (export "gatehouse:gateway/background@0.1.0" (instance $background)))"#
    )
}

struct Subject {
    background: Background,
    runs: Arc<AtomicUsize>,
}

fn subject(code: &str) -> Subject {
    let engine = engine(EngineSettings {
        instances: 1,
        memory_limit: 1 << 20,
    })
    .unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let mut linker = linker(&engine).unwrap();
    let mut root = linker.root();
    root.func_wrap("count", move |_, ()| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(())
    })
    .unwrap();
    root.func_wrap_async("wait", |_, ()| {
        Box::new(std::future::pending::<wasmtime::Result<()>>())
    })
    .unwrap();
    let bytes = wat::parse_str(component(code)).unwrap();
    let template = linker
        .instantiate_pre(&Component::new(&engine, bytes).unwrap())
        .unwrap();
    let settings = BackgroundSettings {
        interval: INTERVAL,
        wall_time: Duration::from_secs(120),
    };
    Subject {
        background: Background::find(&template, no_grants(), settings).unwrap(),
        runs,
    }
}

#[test]
fn a_component_without_background_work_has_none() {
    let engine = engine(EngineSettings {
        instances: 1,
        memory_limit: 1 << 20,
    })
    .unwrap();
    let component = Component::new(&engine, wat::parse_str("(component)").unwrap()).unwrap();
    let template = linker(&engine)
        .unwrap()
        .instantiate_pre(&component)
        .unwrap();
    let settings = BackgroundSettings {
        interval: INTERVAL,
        wall_time: INTERVAL,
    };
    assert!(Background::find(&template, no_grants(), settings).is_none());
}

/// True if the two duties of a round ended well.
async fn round(background: &Background) -> [bool; 2] {
    let round = background.run_once().await;
    let duties: Vec<&str> = round.iter().map(|(duty, _)| *duty).collect();
    assert_eq!(duties, ["first", "second"]);
    [0, 1].map(|duty| round[duty].1.is_ok())
}

#[tokio::test(start_paused = true)]
async fn it_works_at_once_and_then_again_after_each_pause() {
    let Subject { background, runs } = subject("");
    let stop = tokio::time::sleep(INTERVAL * 5 + INTERVAL / 2);
    background.repeat(|_| false, |_, _| {}, stop).await;
    // At once, and after each pause of 54 to 66 s in 330 s.
    assert!(matches!(runs.load(Ordering::SeqCst), 6..=7), "{runs:?}");
}

#[tokio::test(start_paused = true)]
async fn w3_a_duty_that_traps_holds_up_no_other_and_is_called_again() {
    let Subject { background, runs } = subject("call $count unreachable");
    assert_eq!(round(&background).await, [false, true]);
    let told = Mutex::new(Vec::new());
    let tell = |duty: &str, well| told.lock().unwrap().push((duty.to_owned(), well));
    background
        .repeat(|_| false, tell, tokio::time::sleep(INTERVAL * 3 / 2))
        .await;
    assert_eq!(runs.load(Ordering::SeqCst), 6);
    let told = told.into_inner().unwrap();
    let round = [("first".to_owned(), false), ("second".to_owned(), true)];
    assert_eq!(told, [round.clone(), round].concat());
}

#[tokio::test(start_paused = true)]
async fn l6_a_duty_that_fails_is_counted_as_failed_and_told_in_the_log() {
    for code in [FAILS, "unreachable"] {
        let log = Written::default();
        let lines = tracing_subscriber::fmt().with_writer(log.clone());
        let _log = tracing::subscriber::set_default(lines.with_ansi(false).finish());
        let background = subject(code).background;
        let metrics = ServerMetrics::new();
        metrics.expect_duties(background.duties());
        let done = |duty: &str, well| metrics.did_duty(duty, well);
        let stop = tokio::time::sleep(INTERVAL / 2);
        background.repeat(|_| false, done, stop).await;

        let text = metrics.exposition();
        for line in [
            r#"gatehouse_background_duties_total{duty="first",outcome="done"} 0"#,
            r#"gatehouse_background_duties_total{duty="first",outcome="failed"} 1"#,
            r#"gatehouse_background_duties_total{duty="second",outcome="done"} 1"#,
            r#"gatehouse_background_duties_total{duty="second",outcome="failed"} 0"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let log = log.text();
        let told = "background work failed; it is tried again later";
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(told)).collect();
        assert!(lines.len() == 1 && lines[0].contains("first"), "{log}");
    }
}

#[tokio::test(start_paused = true)]
async fn w3_what_a_duty_could_not_do_is_no_trap_and_no_success() {
    let round = subject(FAILS).background;
    let round = round.run_once().await;
    assert!(matches!(round[0].1, Err(RunError::Told)), "{round:?}");
    assert!(round[1].1.is_ok(), "{round:?}");
}

#[tokio::test(start_paused = true)]
async fn w2_a_duty_that_waits_for_ever_is_cut_off_and_gives_back_its_instance() {
    let background = subject("call $wait").background;
    for _ in 0..2 {
        let round = background.run_once().await;
        assert!(
            matches!(round[0].1, Err(RunError::TimedOut(_))),
            "{round:?}"
        );
        assert!(round[1].1.is_ok(), "{round:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn t6_a_duty_that_is_held_is_left_out_and_the_others_go_on() {
    let Subject { background, runs } = subject("call $count");
    let told = Mutex::new(Vec::new());
    let tell = |duty: &str, _| told.lock().unwrap().push(duty.to_owned());
    background
        .repeat(
            |duty| duty == "first",
            tell,
            tokio::time::sleep(INTERVAL / 2),
        )
        .await;
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(told.into_inner().unwrap(), ["second"]);
}

#[tokio::test]
async fn w2_a_duty_that_computes_for_ever_is_interrupted() {
    let mut background = subject("(loop $again (br $again))").background;
    background.grants.cpu_time = Duration::from_millis(20);
    assert_eq!(round(&background).await, [false, true]);
}

#[test]
fn pauses_differ_by_a_tenth_at_most() {
    assert_eq!(jittered(INTERVAL, 0), Duration::from_secs(54));
    assert_eq!(jittered(INTERVAL, u32::MAX), Duration::from_secs(66));
    assert!(
        (Duration::from_secs(54)..=Duration::from_secs(66)).contains(&jittered(INTERVAL, random()))
    );
}
