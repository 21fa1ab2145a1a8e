//! The manifest for SpinKube.

use gatehouse_deploy_tests::{documents, found, read};
use serde_json::Value;

const MANIFEST: &str = "deploy/spinkube/gatehouse.yaml";

#[test]
fn the_spin_app_names_variables_of_the_spin_manifest_and_volumes_that_are_there() {
    let documents = documents(&read(MANIFEST));
    let [app, claim] = &documents[..] else {
        panic!("{documents:?}");
    };
    assert_eq!(app["kind"], "SpinApp");
    assert_eq!(app["spec"]["replicas"], 1);
    // SpinKube itself calls its executor so.
    assert_eq!(app["spec"]["executor"], "containerd-shim-spin");
    let image = concat!("registry.example.com/gatehouse:", env!("CARGO_PKG_VERSION"));
    assert_eq!(app["spec"]["image"], image);
    let manifest: Value = toml::from_str(&read("spin-3.toml")).unwrap();
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|item| item["name"].as_str().unwrap().to_owned())
            .collect()
    };
    for variable in names(&app["spec"]["variables"]) {
        assert!(manifest["variables"].get(&variable).is_some(), "{variable}");
    }
    let required = manifest["variables"].as_object().unwrap();
    for (variable, about) in required {
        let given = names(&app["spec"]["variables"]).contains(variable);
        assert!(given || about["required"] != true, "{variable} is missing");
    }
    assert_eq!(
        names(&app["spec"]["volumes"]),
        names(&app["spec"]["volumeMounts"])
    );
    let claimed = &app["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"];
    assert_eq!(*claimed, claim["metadata"]["name"]);
}

#[test]
fn the_secrets_of_the_spin_app_are_made_by_the_page() {
    let page = read("docs/hosts/spin.md");
    let made = found(&page, r"kubectl create secret generic (\S+) ");
    let app = &documents(&read(MANIFEST))[0];
    let key = &app["spec"]["variables"][0]["valueFrom"]["secretKeyRef"];
    for named in [
        &key["name"],
        &app["spec"]["runtimeConfig"]["loadFromSecret"],
    ] {
        assert!(made.contains(&named.as_str().unwrap()), "{named}: {made:?}");
    }
    let from = format!("--from-file={}=", key["key"].as_str().unwrap());
    assert!(page.contains(&from), "{from}");
}
