//! The manifests for SpinKube.

use gatehouse_deploy_tests::{documents, found, read};
use serde_json::Value;

/// The manifests, each with the image and with Spin's manifest that it is made from.
const MANIFESTS: [(&str, &str, &str); 2] = [
    ("deploy/spinkube/gatehouse.yaml", "gatehouse", "spin-3.toml"),
    (
        "deploy/spinkube/gatehouse-postgres.yaml",
        "gatehouse-postgres",
        "spin-3-postgres.toml",
    ),
];

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn each_spin_app_gives_the_variables_that_its_spin_manifest_requires() {
    let page = read("docs/hosts/spin.md");
    for (name, image, from) in MANIFESTS {
        let app = &documents(&read(name))[0];
        assert_eq!(app["kind"], "SpinApp");
        // SpinKube itself calls its executor so.
        assert_eq!(app["spec"]["executor"], "containerd-shim-spin");
        let version = env!("CARGO_PKG_VERSION");
        let image = format!("registry.example.com/{image}:{version}");
        assert_eq!(app["spec"]["image"], image);
        let pushed = format!("spin registry push --build --from {from} {image}");
        assert!(page.contains(&pushed), "{pushed}");
        assert!(page.contains(&format!("kubectl apply -f {name}")), "{name}");
        let manifest: Value = toml::from_str(&read(from)).unwrap();
        let given = names(&app["spec"]["variables"]);
        for variable in &given {
            assert!(manifest["variables"].get(variable).is_some(), "{variable}");
        }
        for (variable, about) in manifest["variables"].as_object().unwrap() {
            let is_given = given.contains(&variable.as_str());
            assert!(
                is_given || about["required"] != true,
                "{variable} is missing"
            );
        }
    }
}

#[test]
fn one_replica_has_the_volume_of_its_stores_and_several_have_none() {
    let [(one, ..), (several, ..)] = MANIFESTS;
    let one = documents(&read(one));
    let [app, claim] = &one[..] else {
        panic!("{one:?}");
    };
    assert_eq!(app["spec"]["replicas"], 1);
    assert_eq!(
        names(&app["spec"]["volumes"]),
        names(&app["spec"]["volumeMounts"])
    );
    let claimed = &app["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"];
    assert_eq!(*claimed, claim["metadata"]["name"]);

    let several = documents(&read(several));
    let [app] = &several[..] else {
        panic!("{several:?}");
    };
    assert_eq!(app["spec"]["replicas"], 2);
    for of_files in ["volumes", "volumeMounts", "runtimeConfig"] {
        assert!(app["spec"].get(of_files).is_none(), "{of_files}");
    }
}

#[test]
fn the_secrets_of_the_spin_apps_are_made_by_the_page() {
    let page = read("docs/hosts/spin.md");
    let made = found(&page, r"kubectl create secret generic (\S+) ");
    for (name, ..) in MANIFESTS {
        let app = &documents(&read(name))[0];
        let variables = app["spec"]["variables"].as_array().unwrap().iter();
        let secrets = variables.filter_map(|variable| variable["valueFrom"].get("secretKeyRef"));
        let mut secret = 0;
        for reference in secrets {
            secret += 1;
            let name = reference["name"].as_str().unwrap();
            assert!(made.contains(&name), "{name}: {made:?}");
            let from = format!("--from-file={}=", reference["key"].as_str().unwrap());
            assert!(page.contains(&from), "{from}");
        }
        assert!(secret > 0, "the key is no plain variable of {name}");
        if let Some(runtime) = app["spec"].get("runtimeConfig") {
            let name = runtime["loadFromSecret"].as_str().unwrap();
            assert!(made.contains(&name), "{name}: {made:?}");
        }
    }
}
