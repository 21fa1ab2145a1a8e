//! The closing line of a test run: whether the clients in Go were part of it. They alone may be missing (`tests/build.rs`).

#[path = "../go_version.rs"]
mod go_version;

fn main() {
    // Programs that run tests may ask for the names of those in here; there are none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    match go_version::missing() {
        Some(what) => println!("LEFT OUT: the clients in Go ({what} was not found)"),
        None => println!("nothing left out: Go is there, for the clients in Go"),
    }
}
