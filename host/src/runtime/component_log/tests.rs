//! Lines as they reach the log.

use tracing_subscriber::fmt::MakeWriter;
use wasmtime::component::Component;

use super::*;
use crate::runtime::linker::linker;
use crate::runtime::state::no_grants;
use gatehouse_engine::{EngineSettings, engine};

/// The lines that `writes` end, one after the other.
fn lines(writes: &[&[u8]]) -> Vec<String> {
    let mut unfinished = UnfinishedLine::default();
    let mut lines = Vec::new();
    for bytes in writes {
        unfinished.add(bytes, |line| lines.push(line.to_owned()));
    }
    lines
}

#[test]
fn a_line_is_one_event_however_it_was_written() {
    assert_eq!(
        lines(&[b"one\ntw", b"o", b"\r\n\n  \nthree\nnot yet"]),
        ["one", "two", "three"]
    );
}

#[test]
fn nothing_in_a_line_can_pass_for_another_line_or_steer_a_terminal() {
    assert_eq!(
        lines(&["a\u{1b}[2Jb\rc\td\0e\u{2028}f\u{202e}g\u{85}\n".as_bytes()]),
        [r"a\u{1b}[2Jb\rc\td\u{0}e\u{2028}f\u{202e}g\u{85}"]
    );
    assert_eq!(
        lines(&["Zürich \\ \"日本\"\n".as_bytes()]),
        [r#"Zürich \ "日本""#]
    );
    assert_eq!(lines(&[b"\xff\n"]), ["\u{fffd}"]);
}

#[test]
fn a_long_line_is_cut_and_the_next_one_is_whole() {
    let long = vec![b'x'; LONGEST_LINE];
    let found = lines(&[&long, b"\n", &long, b"y\n", &long, &long, b"\nnext\n"]);
    let whole = "x".repeat(LONGEST_LINE);
    let cut = format!("{whole}...");
    assert_eq!(found, [&*whole, &*cut, &*cut, "next"]);
}

/// Writes a line with an escape sequence to standard error, and then half a line.
const COMPONENT: &str = r#"
(component
  (import "wasi:io/error@0.2.12" (instance $errors
    (export "error" (type (sub resource)))))
  (alias export $errors "error" (type $error))
  (import "wasi:io/streams@0.2.12" (instance $streams
    (alias outer 1 $error (type $outer-error))
    (export "error" (type $error (eq $outer-error)))
    (export "output-stream" (type $stream (sub resource)))
    (type $failure' (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $failure (eq $failure')))
    (export "[method]output-stream.blocking-write-and-flush" (func
      (param "self" (borrow $stream)) (param "contents" (list u8))
      (result (result (error $failure)))))))
  (alias export $streams "output-stream" (type $stream))
  (import "wasi:cli/stderr@0.2.12" (instance $stderr
    (alias outer 1 $stream (type $outer-stream))
    (export "output-stream" (type $stream (eq $outer-stream)))
    (export "get-stderr" (func (result (own $stream))))))
  (core module $memory
    (memory (export "memory") 1)
    (data (i32.const 0) "careful\1b[2J\nunfinished"))
  (core instance $memory (instantiate $memory))
  (core func $get (canon lower (func $stderr "get-stderr")))
  (core func $write (canon lower
    (func $streams "[method]output-stream.blocking-write-and-flush")
    (memory (core memory $memory "memory"))))
  (core module $code
    (import "host" "get" (func $get (result i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (func (export "run")
      (call $write (call $get) (i32.const 0) (i32.const 22) (i32.const 64))))
  (core instance $code (instantiate $code
    (with "host" (instance (export "get" (func $get)) (export "write" (func $write))))))
  (func (export "run") (canon lift (core func $code "run"))))
"#;

/// A log in memory.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Written {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn what_a_component_writes_to_standard_error_becomes_lines_of_the_log() {
    let written = Written::default();
    let log = tracing_subscriber::fmt()
        .with_writer(written.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    let _log = tracing::subscriber::set_default(log);

    let engine = engine(EngineSettings {
        instances: 1,
        memory_limit: 1 << 20,
    })
    .unwrap();
    let component = Component::new(&engine, wat::parse_str(COMPONENT).unwrap()).unwrap();
    let mut store = no_grants().store(&engine);
    let instance = linker(&engine).unwrap();
    let instance = instance.instantiate_async(&mut store, &component).await;
    let run = instance
        .unwrap()
        .get_typed_func::<(), ()>(&mut store, "run");
    run.unwrap().call_async(&mut store, ()).await.unwrap();
    drop(store);

    let written = written.0.lock().unwrap().clone();
    assert_eq!(
        String::from_utf8(written).unwrap(),
        " WARN gatehouse::component: careful\\u{1b}[2J\n WARN gatehouse::component: unfinished\n"
    );
}
