//! The objects of `deploy`, read by the types of Kubernetes' own API.

use gatehouse_deploy_tests::{documents, read};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Service, ServiceAccount};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::page::files;

/// Kinds of other projects, whose types are not among Kubernetes' own.
const OF_OTHERS: [(&str, &str); 2] = [
    ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
    ("core.spinkube.dev/v1alpha1", "SpinApp"),
];

/// An object after it was read as a `T`: without fields that Kubernetes does not have, and with the required ones.
fn read_as<T: DeserializeOwned + Serialize>(object: &Value) -> Result<Value, String> {
    let read: T = serde_json::from_value(object.clone()).map_err(|error| error.to_string())?;
    serde_json::to_value(read).map_err(|error| error.to_string())
}

/// The check of an object, whose error names the flaw; `None` for a kind that is not Kubernetes' own.
fn flaw(object: &Value) -> Option<Result<(), String>> {
    let kind = (
        object["apiVersion"].as_str().unwrap_or_default(),
        object["kind"].as_str().unwrap_or_default(),
    );
    let read = match kind {
        ("apps/v1", "Deployment") => read_as::<Deployment>(object),
        ("apps/v1", "StatefulSet") => read_as::<StatefulSet>(object),
        ("policy/v1", "PodDisruptionBudget") => read_as::<PodDisruptionBudget>(object),
        ("v1", "ConfigMap") => read_as::<ConfigMap>(object),
        ("v1", "PersistentVolumeClaim") => read_as::<PersistentVolumeClaim>(object),
        ("v1", "Service") => read_as::<Service>(object),
        ("v1", "ServiceAccount") => read_as::<ServiceAccount>(object),
        other if OF_OTHERS.contains(&other) => return None,
        (version, kind) => Err(format!("{version} {kind} is not known")),
    };
    Some(read.and_then(|read| same(&read, object, "")))
}

/// Compares an object with the one that was read from it; the error names the first place where they differ.
fn same(read: &Value, written: &Value, place: &str) -> Result<(), String> {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => {
            let mut names = read.keys().chain(written.keys());
            names.try_for_each(|name| {
                let place = format!("{place}.{name}");
                match (read.get(name), written.get(name)) {
                    (Some(read), Some(written)) => same(read, written, &place),
                    (None, _) => Err(format!("{place} does not exist")),
                    // A claim within a workload needs no version and kind of its own.
                    (_, None) if place.ends_with("].apiVersion") || place.ends_with("].kind") => {
                        Ok(())
                    }
                    (_, None) => Err(format!("{place} is missing")),
                }
            })
        }
        (Value::Array(read), Value::Array(written)) if read.len() == written.len() => {
            let mut items = read.iter().zip(written).enumerate();
            items.try_for_each(|(index, (read, written))| {
                same(read, written, &format!("{place}[{index}]"))
            })
        }
        _ if read == written => Ok(()),
        _ => Err(format!("{place} is {written}, read as {read}")),
    }
}

/// Refuses an object of Kubernetes that it would not take as it is, and one of a kind that is not listed here.
pub fn assert_known_to_kubernetes(object: &Value) {
    if let Some(Err(flaw)) = flaw(object) {
        panic!("{}: {flaw}\n{object}", object["kind"]);
    }
}

#[test]
fn every_object_has_the_fields_that_kubernetes_wants_and_no_others() {
    let mut paths = Vec::new();
    for folder in ["deploy/kubernetes", "deploy/spinkube"] {
        files(folder, &mut paths);
    }
    let mut checked = 0;
    for path in paths.iter().filter(|path| path.ends_with(".yaml")) {
        for object in documents(&read(path)) {
            if let Some(checking) = flaw(&object) {
                checking.unwrap_or_else(|flaw| panic!("{path}: {flaw}"));
                checked += 1;
            }
        }
    }
    // One workload for each variant, the objects that both share, and the claim of SpinKube.
    assert_eq!(checked, 6);
}

#[test]
fn a_field_that_does_not_exist_is_missing_or_of_another_type_is_noticed() {
    let budget = |spec: Value| json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"}, "spec": spec});
    assert_eq!(flaw(&budget(json!({"maxUnavailable": 1}))), Some(Ok(())));
    let refused = |object: &Value| flaw(object).unwrap().unwrap_err();
    assert_eq!(
        refused(&budget(json!({"maxUnavailible": 1}))),
        ".spec.maxUnavailible does not exist"
    );
    let of_another_type = refused(&budget(json!({"maxUnavailable": [1]})));
    assert!(
        of_another_type.contains("invalid type"),
        "{of_another_type}"
    );
    let port = json!({"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": {"ports": [{"name": "https"}]}});
    assert_eq!(refused(&port), ".spec.ports[0].port is missing");
    let older = json!({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget"});
    assert_eq!(
        refused(&older),
        "policy/v1beta1 PodDisruptionBudget is not known"
    );
}
