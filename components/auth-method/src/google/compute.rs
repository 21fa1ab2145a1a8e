//! Instances as Google knows them now (contract 4.6, 8.3; SEC-G6, G9).

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Http, Random};
use jiff::Timestamp;
use serde::Deserialize;

use super::api_error::ApiError;
use super::call_error::CallError;
use super::exchange::Question;
use super::strict::{Object, identity_in};
use super::{Api, Google};

/// Where an instance is found. Each part is of the shape that Google gives such names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InstanceName<'a> {
    pub(crate) project: &'a str,
    pub(crate) zone: &'a str,
    pub(crate) name: &'a str,
}

/// An instance, by Google's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// A decimal number.
    pub(crate) id: String,
    pub(crate) status: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
    /// The zone's name, as the answer has it.
    pub(crate) zone: String,
    /// The path of its own link, below the version of the API: `projects/p/zones/z/instances/n`.
    pub(crate) link: String,
    pub(crate) labels: BTreeMap<String, String>,
    /// E-mail addresses of the attached service accounts.
    pub(crate) service_accounts: Vec<String>,
}

/// An answer of the API, in which empty labels and accounts are missing.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    id: String,
    name: String,
    status: String,
    creation_timestamp: String,
    zone: String,
    self_link: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    service_accounts: Vec<Object<AttachedAccount>>,
}

#[derive(Deserialize)]
struct AttachedAccount {
    email: String,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The instance of this name. Never from memory.
    pub(crate) fn instance(&self, name: InstanceName<'_>) -> Result<Instance, ApiError> {
        let InstanceName {
            project,
            zone,
            name,
        } = name;
        let segments = ["projects", project, "zones", zone, "instances", name];
        let url = self.endpoints.url(Api::Compute, &segments);
        let answer = self.authorized_answer(&Question::get(Api::Compute, url))?;
        instance_in(&answer.body, name).ok_or_else(|| CallError::Unusable(Api::Compute).into())
    }
}

/// The instance called `name` that an answer of the API tells of; `None` when it is not one about that instance.
pub(crate) fn instance_in(body: &[u8], name: &str) -> Option<Instance> {
    let answer: Answer = identity_in(body).ok()?;
    (answer.name == name).then_some(())?;
    Instance::from_answer(answer)
}

impl Instance {
    /// `None` when the answer is not one about an instance.
    fn from_answer(answer: Answer) -> Option<Self> {
        let created: Timestamp = answer.creation_timestamp.parse().ok()?;
        let emails = answer.service_accounts.into_iter();
        Some(Self {
            id: Some(answer.id).filter(|id| !id.is_empty())?,
            status: answer.status,
            created: created.as_second().try_into().ok()?,
            zone: last_segment(&answer.zone)?.to_owned(),
            link: instance_path(&answer.self_link)?,
            labels: answer.labels,
            service_accounts: emails.map(|Object(account)| account.email).collect(),
        })
    }
}

/// The part of an instance's link that is the same under every host and version of the API; `None` when it is not such a link.
pub(super) fn instance_path(link: &str) -> Option<String> {
    let mut segments = link.rsplitn(7, '/');
    let name = segments.next()?;
    let instances = segments.next()?;
    let zone = segments.next()?;
    let zones = segments.next()?;
    let project = segments.next()?;
    let projects = segments.next()?;
    let is_instance = [projects, zones, instances] == ["projects", "zones", "instances"];
    let is_complete = [project, zone, name].iter().all(|part| !part.is_empty());
    (is_instance && is_complete)
        .then(|| format!("projects/{project}/zones/{zone}/instances/{name}"))
}

fn last_segment(link: &str) -> Option<&str> {
    link.rsplit('/').next().filter(|name| !name.is_empty())
}

/// A zone's name is that of its region, a hyphen and a letter.
pub(crate) fn region_of(zone: &str) -> &str {
    zone.rsplit_once('-').map_or(zone, |(region, _)| region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_its_zone_without_the_last_part() {
        assert_eq!(region_of("europe-west1-b"), "europe-west1");
        assert_eq!(region_of("europe-west10-a"), "europe-west10");
        assert_eq!(region_of("x"), "x");
    }

    #[test]
    fn links_are_the_same_whatever_host_and_version_they_name() {
        let path = "projects/p/zones/z/instances/n";
        for base in [
            "https://www.googleapis.com/compute/v1/",
            "https://compute.googleapis.com/compute/beta/",
            "http://127.0.0.1:8080/proxy/projects/compute/v1/",
            "https://compute.example/",
            "",
        ] {
            assert_eq!(
                instance_path(&format!("{base}{path}")).as_deref(),
                Some(path)
            );
        }
        for other in [
            "",
            "n",
            "zones/z/instances/n",
            "https://h/projects/p/zones/z/instances/",
            "https://h/projects/p/zones/z/instances/n/",
            "https://h/projects//zones/z/instances/n",
            "https://h/projects/p/regions/z/instances/n",
            "https://h/projects/p/zones/z/disks/n",
        ] {
            assert_eq!(instance_path(other), None, "{other}");
        }
    }

    fn read(changes: &[(&str, serde_json::Value)]) -> Option<Instance> {
        let mut answer = serde_json::json!({
            "id": "42", "name": "n", "status": "RUNNING",
            "creationTimestamp": "2023-11-14T15:13:20.999-07:00",
            "zone": "https://www.googleapis.com/compute/v1/projects/p/zones/z",
            "selfLink": "https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/n",
        });
        for (name, value) in changes {
            answer[name] = value.clone();
        }
        instance_in(answer.to_string().as_bytes(), "n")
    }

    #[test]
    fn contract_8_3_an_instance_is_read_with_its_time_in_whole_seconds() {
        let expected = Instance {
            id: "42".to_owned(),
            status: "RUNNING".to_owned(),
            created: 1_700_000_000,
            zone: "z".to_owned(),
            link: "projects/p/zones/z/instances/n".to_owned(),
            labels: BTreeMap::new(),
            service_accounts: Vec::new(),
        };
        assert_eq!(read(&[]), Some(expected));
        for (time, seconds) in [
            ("2023-11-14T22:13:20Z", 1_700_000_000),
            ("2023-11-15T03:43:20.5+05:30", 1_700_000_000),
        ] {
            let instance = read(&[("creationTimestamp", time.into())]).unwrap();
            assert_eq!(instance.created, seconds);
        }
    }

    #[test]
    fn g6_what_is_not_about_an_instance_is_not_read() {
        for (name, value) in [
            ("id", 42.into()),
            ("id", "".into()),
            ("creationTimestamp", "yesterday".into()),
            ("creationTimestamp", "1969-12-31T23:59:59Z".into()),
            ("creationTimestamp", "2023-11-14T22:13:20".into()),
            ("zone", "".into()),
            ("zone", "https://h/zones/".into()),
            ("selfLink", "https://h/x".into()),
            ("status", serde_json::Value::Null),
            ("labels", serde_json::json!({"a": 1})),
            ("serviceAccounts", serde_json::json!([{}])),
            ("serviceAccounts", serde_json::json!([["a@x.example"]])),
            ("name", "m".into()),
        ] {
            assert_eq!(read(&[(name, value.clone())]), None, "{name} {value}");
        }
    }

    #[test]
    fn g6_a_list_of_an_instances_values_is_no_instance() {
        let link = "https://h/projects/p/zones/z/instances/n";
        let list = serde_json::json!([
            "42",
            "n",
            "RUNNING",
            "2023-11-14T22:13:20Z",
            "zones/z",
            link,
            {},
            [],
        ]);
        assert_eq!(instance_in(list.to_string().as_bytes(), "n"), None);
    }
}
