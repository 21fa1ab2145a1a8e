//! Two servers on one store.

use gatehouse_tests::{Installation, Storage};

#[test]
fn s13_a_second_server_on_the_same_store_does_not_start() {
    let installation = Installation::start(Storage::Durable, "").unwrap();
    let output = std::process::Command::new(gatehouse_tests::gatehouse_binary())
        .args(["server", "--config"])
        .arg(installation.configuration())
        .env(
            "GATEHOUSE_LISTENER_ADDRESS",
            gatehouse_tests::free_address(),
        )
        .output()
        .unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("another process"), "{message}");
}
