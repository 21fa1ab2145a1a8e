//! SIGHUP: what a running server reads again, and what it says of the rest.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

use gatehouse_tests::gatehouse_binary;
use rustix::process::{Pid, Signal, kill_process};

/// A server whose log is read, ended with the test.
struct Logged {
    process: Child,
    log: BufReader<ChildStderr>,
}

impl Logged {
    fn signal(&self, signal: Signal) {
        let process = i32::try_from(self.process.id()).unwrap();
        kill_process(Pid::from_raw(process).unwrap(), signal).unwrap();
    }

    /// Reads on to the line with `text`.
    fn await_line(&mut self, text: &str) -> String {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "no {text:?}");
        }
        line
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_hangup_puts_a_changed_level_in_force_and_names_each_setting_that_waits_for_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let configuration = place.path().join("gatehouse.toml");
    let write = |more: &str| {
        let text =
            format!("[listener]\naddress = \"127.0.0.1:0\"\n[storage]\ntype = \"memory\"\n{more}");
        fs::write(&configuration, text).unwrap();
    };
    write("");
    let mut process = Command::new(gatehouse_binary())
        .args(["server", "--config"])
        .arg(&configuration)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(process.stderr.take().unwrap());
    let mut server = Logged { process, log };
    server.await_line("serving at");

    server.signal(Signal::HUP);
    server.await_line("no setting has changed");
    write("[limits]\nqueue = 7\n[log]\nlevel = \"warn\"\n");
    server.signal(Signal::HUP);
    let line = server.await_line("limits.queue changed");
    assert!(
        line.contains("from 1024 to 7; that needs a restart"),
        "{line}"
    );

    // The level hides what is only informative from now on, and mistakes change nothing.
    write("[limits]\nqueue = 0\n[log]\nlevel = \"info\"\n");
    server.signal(Signal::HUP);
    server.await_line("the settings stay as they are");
    server.await_line("line 6: limits.queue");

    write("[limits]\nqueue = 7\n[log]\nlevel = \"info\"\n");
    server.signal(Signal::HUP);
    let line = server.await_line("log.level changed");
    assert!(line.contains("from \"warn\" to \"info\""), "{line}");
    server.signal(Signal::TERM);
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}
