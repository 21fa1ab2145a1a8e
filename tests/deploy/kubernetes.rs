//! The manifests of a server, one folder for each kind of store.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

use gatehouse_deploy_tests::{
    configuration, default_limit, default_seconds, documents, is_open_route, read, workspace,
};
use serde_json::Value;

use crate::run;
use crate::schemas::assert_known_to_kubernetes;

/// The folders that are applied, one for each kind of store.
const VARIANTS: [&str; 2] = ["postgresql", "redb"];

const KUBERNETES: &str = "deploy/kubernetes";

/// The objects that are applied from a folder, before kustomize processes them.
struct Variant {
    name: &'static str,
    kustomization: Value,
    objects: Vec<Value>,
    configuration: Value,
}

fn variants() -> impl Iterator<Item = Variant> {
    VARIANTS.into_iter().map(|name| {
        let folder = format!("{KUBERNETES}/{name}");
        let kustomization = kustomization(&folder);
        let mut objects = Vec::new();
        for resource in texts(&kustomization["resources"]) {
            match resource.strip_prefix("../") {
                Some(base) => {
                    let base = format!("{KUBERNETES}/{base}");
                    for resource in texts(&kustomization_resources(&base)) {
                        objects.extend(documents(&read(&format!("{base}/{resource}"))));
                    }
                }
                None => objects.extend(documents(&read(&format!("{folder}/{resource}")))),
            }
        }
        Variant {
            name,
            kustomization,
            objects,
            configuration: configuration(&format!("{folder}/gatehouse.toml")),
        }
    })
}

fn kustomization(folder: &str) -> Value {
    documents(&read(&format!("{folder}/kustomization.yaml"))).remove(0)
}

fn kustomization_resources(folder: &str) -> Value {
    kustomization(folder)["resources"].clone()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn texts(value: &Value) -> Vec<&str> {
    list(value).iter().map(text).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// The item of a list that is called `name`.
fn named<'a>(items: &'a Value, name: &str) -> &'a Value {
    let found = list(items).iter().find(|item| item["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not among {items}"))
}

impl Variant {
    /// The only object of a kind.
    fn object(&self, kind: &str) -> &Value {
        let mut found = self.objects.iter().filter(|object| object["kind"] == kind);
        let object = found
            .next()
            .unwrap_or_else(|| panic!("{}: no {kind}", self.name));
        assert!(found.next().is_none(), "{}: two of {kind}", self.name);
        object
    }

    fn workload(&self) -> &Value {
        match self.name {
            "postgresql" => self.object("Deployment"),
            _ => self.object("StatefulSet"),
        }
    }

    fn pod(&self) -> &Value {
        &self.workload()["spec"]["template"]["spec"]
    }

    fn server(&self) -> &Value {
        named(&self.pod()["containers"], "gatehouse")
    }

    /// The volume that has `path`, by the longest mount point above it.
    fn volume_of(&self, path: &str) -> Option<&str> {
        let mounts = list(&self.server()["volumeMounts"]).iter();
        let above = mounts.filter(|mount| Path::new(path).starts_with(text(&mount["mountPath"])));
        let nearest = above.max_by_key(|mount| text(&mount["mountPath"]).len());
        nearest.map(|mount| text(&mount["name"]))
    }

    fn setting(&self, section: &str, key: &str) -> &str {
        text(&self.configuration[section][key])
    }
}

#[test]
#[cfg_attr(
    not(with_kubectl),
    ignore = "kubectl is missing (https://kubernetes.io/docs/tasks/tools)"
)]
fn kustomize_makes_of_each_folder_the_objects_that_these_tests_read() {
    for variant in variants() {
        let folder = workspace().join(KUBERNETES).join(variant.name);
        let made = documents(&run(Command::new("kubectl").arg("kustomize").arg(folder)));
        let kinds = |objects: &[Value]| -> BTreeSet<String> {
            objects
                .iter()
                .map(|object| text(&object["kind"]).to_owned())
                .collect()
        };
        let mut expected = kinds(&variant.objects);
        expected.insert("ConfigMap".to_owned());
        assert_eq!(kinds(&made), expected);
        made.iter().for_each(assert_known_to_kubernetes);
        let configuration = made.iter().find(|object| object["kind"] == "ConfigMap");
        let name = &configuration.unwrap()["metadata"]["name"];
        let of_kind = |object: &&Value| object["kind"] == variant.workload()["kind"];
        let pod = &made.iter().find(of_kind).unwrap()["spec"]["template"]["spec"];
        assert_eq!(named(&pod["volumes"], "config")["configMap"]["name"], *name);
        let image = text(&named(&pod["containers"], "gatehouse")["image"]);
        assert_eq!(image, "registry.example.com/gatehouse:0.1.0");
    }
}

#[test]
fn one_server_at_a_time_has_a_store_in_a_file_and_several_share_a_database() {
    for variant in variants() {
        let workload = variant.workload();
        let is_shared = workload["kind"] == "Deployment";
        let replicas = if is_shared { 3 } else { 1 };
        assert_eq!(workload["spec"]["replicas"], replicas, "{}", variant.name);
        if is_shared {
            let strategy = &workload["spec"]["strategy"];
            assert_eq!(strategy["type"], "RollingUpdate");
            assert_eq!(strategy["rollingUpdate"]["maxUnavailable"], 0);
            // The loss of a node takes one replica with it, and a cluster with fewer nodes still runs all replicas.
            let spread = &list(&variant.pod()["topologySpreadConstraints"])[0];
            let labels = &workload["spec"]["template"]["metadata"]["labels"];
            assert_eq!(spread["labelSelector"]["matchLabels"], *labels);
            assert_eq!(spread["whenUnsatisfiable"], "ScheduleAnyway");
        }
        let kind = match variant.name {
            "postgresql" => "postgresql",
            _ => "redb",
        };
        assert_eq!(variant.setting("storage", "type"), kind);
        // A budget that requires one of one replica to stay prevents nodes from being drained.
        let budget = &variant.object("PodDisruptionBudget")["spec"];
        assert_eq!(budget["maxUnavailable"], 1);
        assert!(budget["minAvailable"].is_null());
    }
}

#[test]
fn selectors_ports_and_accounts_find_what_they_name() {
    for variant in variants() {
        let workload = &variant.workload()["spec"];
        let labels = &workload["template"]["metadata"]["labels"];
        assert!(!labels.is_null());
        let service = variant.object("Service");
        assert_eq!(workload["selector"]["matchLabels"], *labels);
        assert_eq!(service["spec"]["selector"], *labels);
        let budget = &variant.object("PodDisruptionBudget")["spec"];
        assert_eq!(budget["selector"]["matchLabels"], *labels);
        if workload["strategy"].is_null() {
            assert_eq!(workload["serviceName"], service["metadata"]["name"]);
        }
        let account = variant.object("ServiceAccount");
        assert_eq!(
            variant.pod()["serviceAccountName"],
            account["metadata"]["name"]
        );
        assert_eq!(account["automountServiceAccountToken"], false);

        let port = &list(&service["spec"]["ports"])[0];
        let open = named(&variant.server()["ports"], text(&port["targetPort"]));
        let address = variant.setting("listener", "address");
        let (_, listening) = address.rsplit_once(':').unwrap();
        assert_eq!(open["containerPort"].to_string(), listening);
        assert_eq!(port["port"].to_string(), listening);
    }
}

#[test]
fn probes_ask_for_routes_that_need_no_token_and_a_sealed_server_is_not_ended() {
    for variant in variants() {
        let server = variant.server();
        for (probe, path) in [
            ("startupProbe", "/api/v2/ping"),
            ("livenessProbe", "/api/v2/ping"),
            ("readinessProbe", "/v1/sys/health"),
        ] {
            let probe = &server[probe];
            let get = &probe["httpGet"];
            assert_eq!(text(&get["path"]), path);
            assert!(is_open_route(path), "{path}");
            named(&server["ports"], text(&get["port"]));
            let is_tls = variant.configuration["listener"]["tls_cert_file"].is_string();
            assert_eq!(get["scheme"] == "HTTPS", is_tls);
            let client = named(&get["httpHeaders"], "X-Forwarded-For");
            text(&client["value"]).parse::<IpAddr>().unwrap();
            assert!(probe["timeoutSeconds"].as_u64() > Some(1));
        }
        // On a processor that the image carries no code for, the server compiles first.
        let startup = &server["startupProbe"];
        let patience = |key: &str| startup[key].as_u64().unwrap();
        assert!(patience("periodSeconds") * patience("failureThreshold") >= 300);
        let grace = variant.pod()["terminationGracePeriodSeconds"].as_u64();
        assert!(grace > Some(default_seconds("drain_timeout").as_secs()));
    }
}

#[test]
fn nothing_in_the_pod_is_privileged() {
    for variant in variants() {
        let pod = variant.pod();
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["enableServiceLinks"], false);
        let context = &pod["securityContext"];
        assert_eq!(context["runAsNonRoot"], true);
        assert_eq!(context["seccompProfile"]["type"], "RuntimeDefault");
        for key in ["runAsUser", "runAsGroup", "fsGroup"] {
            assert_eq!(context[key], 65532, "{key}");
        }
        // Otherwise each start would open the files of the store to the group, which the server refuses.
        assert_eq!(context["fsGroupChangePolicy"], "OnRootMismatch");
        let containers = [&pod["initContainers"], &pod["containers"]];
        for container in containers.into_iter().flat_map(list) {
            let context = &container["securityContext"];
            assert_eq!(context["allowPrivilegeEscalation"], false);
            assert_eq!(context["readOnlyRootFilesystem"], true);
            assert_eq!(texts(&context["capabilities"]["drop"]), ["ALL"]);
            assert!(container["resources"]["limits"]["memory"].is_string());
        }
    }
}

#[test]
fn every_file_of_the_configuration_is_on_a_volume_and_fit_for_what_it_is() {
    for variant in variants() {
        let arguments = texts(&variant.server()["args"]);
        let ["server", "--config", file] = arguments[..] else {
            panic!("{arguments:?}");
        };
        assert_eq!(variant.volume_of(file), Some("config"));
        for key in ["tls_cert_file", "tls_key_file"] {
            let file = variant.setting("listener", key);
            assert_eq!(variant.volume_of(file), Some("tls"), "{key}");
            // As `kubectl create secret tls` names them.
            assert!(
                file.ends_with("/tls.crt") || file.ends_with("/tls.key"),
                "{file}"
            );
        }
        let code = variant.setting("components", "cache_directory");
        assert_eq!(variant.volume_of(code), Some("code"));
        if variant.name == "redb" {
            let store = variant.setting("storage", "path");
            assert_eq!(variant.volume_of(store), Some("store"));
            let sink = &variant.configuration["audit"]["stdout"];
            assert_eq!(variant.volume_of(text(&sink["key_file"])), Some("store"));
        }
        // The group of a volume can write to its top folder, which the server refuses; a folder below it is the server's own.
        for mount in list(&variant.server()["volumeMounts"]) {
            let mounted = text(&mount["mountPath"]);
            assert_ne!(mounted, code);
            assert_ne!(
                Some(mounted),
                variant.configuration["storage"]["path"].as_str()
            );
        }
    }
}

#[test]
fn keys_are_copied_to_where_the_server_alone_can_read_them() {
    for variant in variants() {
        let pod = variant.pod();
        let mut files = vec![variant.setting("seal", "key_file")];
        if variant.name == "postgresql" {
            files.push(variant.setting("storage", "password_file"));
        }
        let copying = named(&pod["initContainers"], "keys");
        let command = texts(&copying["command"]);
        let (last, copied) = command.split_last().unwrap();
        let secrets = &named(&pod["volumes"], "secrets")["projected"]["sources"];
        assert_eq!(list(secrets).len(), files.len());
        let mut expected = vec!["install".to_owned(), "-m".to_owned(), "0600".to_owned()];
        for (file, secret) in files.iter().zip(list(secrets)) {
            let (folder, name) = file.rsplit_once('/').unwrap();
            assert_eq!(format!("{folder}/"), **last);
            assert_eq!(variant.volume_of(file), Some("keys"));
            assert_eq!(list(&secret["secret"]["items"])[0]["path"], name);
            expected.push(format!("/secrets/{name}"));
        }
        assert_eq!(copied, expected);
        assert_eq!(
            named(&pod["volumes"], "keys")["emptyDir"]["medium"],
            "Memory"
        );
        let mounts = &copying["volumeMounts"];
        assert_eq!(named(mounts, "secrets")["mountPath"], "/secrets");
        assert_eq!(
            format!("{}/", text(&named(mounts, "keys")["mountPath"])),
            **last
        );
    }
}

#[test]
fn every_mount_has_a_volume_and_every_volume_a_source() {
    for variant in variants() {
        let pod = variant.pod();
        let claims = &variant.workload()["spec"]["volumeClaimTemplates"];
        let volumes = list(&pod["volumes"]).iter().map(|volume| &volume["name"]);
        let claimed = list(claims).iter().map(|claim| &claim["metadata"]["name"]);
        let there: BTreeSet<&str> = volumes.chain(claimed).map(text).collect();
        let containers = [&pod["initContainers"], &pod["containers"]];
        let mounts = containers.into_iter().flat_map(list);
        let mounts = mounts.flat_map(|container| list(&container["volumeMounts"]));
        let mounted: BTreeSet<&str> = mounts.map(|mount| text(&mount["name"])).collect();
        assert_eq!(mounted, there, "{}", variant.name);

        let generated = &variant.kustomization["configMapGenerator"];
        let map = text(&named(&pod["volumes"], "config")["configMap"]["name"]);
        assert_eq!(texts(&named(generated, map)["files"]), ["gatehouse.toml"]);
        let image = text(&variant.server()["image"]);
        named(&variant.kustomization["images"], image);
    }
}

#[test]
fn the_secrets_of_the_manifests_are_made_by_the_page() {
    let page = read("docs/operate/deploy.md");
    for variant in variants() {
        let pod = variant.pod();
        let tls = text(&named(&pod["volumes"], "tls")["secret"]["secretName"]);
        assert!(
            page.contains(&format!("kubectl create secret tls {tls} --cert=")),
            "{tls}"
        );
        for source in list(&named(&pod["volumes"], "secrets")["projected"]["sources"]) {
            let name = text(&source["secret"]["name"]);
            let key = text(&list(&source["secret"]["items"])[0]["key"]);
            let made = format!("kubectl create secret generic {name} --from-file={key}");
            assert!(page.contains(&made), "{made}");
        }
    }
}

#[test]
fn instances_fit_into_the_memory_of_the_pod() {
    /// The memory for everything that is not an instance.
    const BESIDE: u64 = 256 << 20;
    let of_instance = default_limit("instance_memory");
    let of_instance: u64 = of_instance.strip_suffix(" MiB").unwrap().parse().unwrap();
    for variant in variants() {
        let instances = variant.configuration["limits"]["instances"]
            .as_u64()
            .unwrap();
        let limit = text(&variant.server()["resources"]["limits"]["memory"]);
        let limit: u64 = limit.strip_suffix("Gi").unwrap().parse().unwrap();
        assert!(
            instances * (of_instance << 20) + BESIDE <= limit << 30,
            "{}",
            variant.name
        );
    }
}
