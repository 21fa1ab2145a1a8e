//! The check for Go, which the clients in Go need: made by the build script of the tests, and again at the end of a test run.

use std::process::Command;

/// The missing program, in words for the person who runs the tests.
pub fn missing() -> Option<&'static str> {
    let asked = Command::new("go").args(["env", "GOVERSION"]).output();
    let printed = asked.ok().filter(|output| output.status.success());
    let version = printed.and_then(|output| String::from_utf8(output.stdout).ok());
    // `tests/clients/go/go.mod` asks for this one.
    let fits = version.is_some_and(|version| numbers(&version) >= Some((1, 25)));
    (!fits).then_some("Go 1.25 or newer (https://go.dev/dl)")
}

/// Major and minor of a version such as `go1.25.3`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let version = version.trim().trim_start_matches("go");
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}
