//! The descriptions of both APIs, given to a validator of OpenAPI that others wrote.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use gatehouse_tests::{DevServer, python};
use serde_json::{Value, json};

/// The verdict of the validator, which prints what it finds.
fn judged(description: &Value) -> Output {
    let requirements =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/openapi/requirements.txt");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), description.to_string()).unwrap();
    Command::new(python("openapi", &requirements))
        .args(["-m", "openapi_spec_validator"])
        .arg(file.path())
        .output()
        .unwrap()
}

#[test]
fn both_descriptions_are_valid_openapi_to_a_validator_of_others() {
    let server = DevServer::start(&[]).unwrap();
    for path in ["/v1/sys/internal/specs/openapi", "/api/v2/openapi.json"] {
        let answer = server.as_root("GET", path, None);
        let mut description = answer.json();
        let verdict = judged(&description);
        assert!(verdict.status.success(), "{path}: {verdict:?}");
        // It judges: an operation must say what it answers, and have an identifier of its own.
        let paths = description["paths"].as_object_mut().unwrap();
        assert!(paths.len() > 30, "{path}: {}", paths.len());
        let twice = json!({"operationId": "twice", "responses": {"200": {"description": "twice"}}});
        for (place, fault) in [
            ("/one", json!({"get": {}})),
            ("/two", json!({"get": twice, "put": twice})),
        ] {
            let mut faulty = description.clone();
            faulty["paths"][place] = fault;
            let verdict = judged(&faulty);
            assert!(!verdict.status.success(), "{path} {place}: {verdict:?}");
        }
    }
}
