//! The compute API of the Google made of a function: instances, and lists of instance groups and their members in pages.

use std::collections::{BTreeMap, HashMap};

use gatehouse_ports::{HttpRequest, HttpResponse, Method};
use serde_json::{Value, json};
use url::Url;

use crate::google::{EMAIL, UNIQUE_ID, answer, refusal};
use crate::keys::Token;
use crate::stage::NOW;

pub const ZONE: &str = "europe-west1-b";
pub const INSTANCE_ID: &str = "4242424242424242424";
/// When the instance was created; the API says it in milliseconds, with an offset.
pub const CREATED: u64 = NOW - 10_000;
const CREATED_TEXT: &str = "2027-01-14T21:13:20.250-08:00";

#[derive(Clone)]
pub struct Instance {
    pub project: String,
    /// Where it is asked for.
    pub zone: String,
    pub name: String,
    /// Members of the answer beside the usual ones, or instead of them; null leaves one out.
    pub answer: BTreeMap<&'static str, Value>,
}

pub struct Group {
    /// As in `zones/europe-west1-b`.
    pub place: String,
    pub name: String,
    /// Links of instances.
    pub members: Vec<String>,
}

pub struct Compute {
    pub instances: Vec<Instance>,
    pub groups: Vec<Group>,
    /// Groups or members on a page; 0 for pages without end or content.
    pub page_size: usize,
}

pub fn link(zone: &str, name: &str) -> String {
    format!("https://www.googleapis.com/compute/v1/projects/p1/zones/{zone}/instances/{name}")
}

/// A token that Google made on the instance, for role `dev`.
pub fn token() -> Token {
    let claims = json!({
        "project_id": "p1", "project_number": 77, "zone": ZONE, "instance_name": "web-1",
        "instance_id": INSTANCE_ID, "instance_creation_timestamp": CREATED,
    });
    Token::of_google()
        .claim("email", EMAIL)
        .claim("email_verified", true)
        .claim("google", json!({"compute_engine": claims}))
}

/// The same with one claim about the instance set.
pub fn token_with(name: &str, value: impl Into<Value>) -> Token {
    let mut token = token();
    assert_eq!(token.claims["sub"], UNIQUE_ID);
    token.claims["google"]["compute_engine"][name] = value.into();
    token
}

impl Instance {
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.answer.insert(name, value.into());
    }

    fn body(&self) -> Value {
        let base = format!(
            "https://www.googleapis.com/compute/v1/projects/{}/zones/{}",
            self.project, self.zone
        );
        let mut body = json!({
            "kind": "compute#instance", "id": INSTANCE_ID, "name": self.name, "status": "RUNNING",
            "creationTimestamp": CREATED_TEXT, "zone": base,
            "selfLink": format!("{base}/instances/{}", self.name),
            "labels": {"env": "prod", "tier": ""},
            "serviceAccounts": [{"email": EMAIL, "scopes": ["https://example"]}],
        });
        let members = body.as_object_mut().unwrap();
        members.extend(
            self.answer
                .iter()
                .map(|(&name, value)| (name.to_owned(), value.clone())),
        );
        members.retain(|_, value| !value.is_null());
        body
    }
}

impl Compute {
    pub fn new() -> Self {
        let instance = Instance {
            project: "p1".to_owned(),
            zone: ZONE.to_owned(),
            name: "web-1".to_owned(),
            answer: BTreeMap::new(),
        };
        Self {
            instances: vec![instance],
            groups: Vec::new(),
            page_size: 100,
        }
    }

    pub fn group(&mut self, place: &str, name: &str, members: &[String]) {
        self.groups.push(Group {
            place: place.to_owned(),
            name: name.to_owned(),
            members: members.to_vec(),
        });
    }

    pub fn answer(&self, path: &str, request: &HttpRequest) -> HttpResponse {
        let url = Url::parse(&request.url).unwrap();
        let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let path = path.split('?').next().unwrap();
        let segments: Vec<&str> = path.split('/').collect();
        match (request.method, segments.as_slice()) {
            (Method::Get, ["projects", project, "zones", zone, "instances", name]) => {
                let found = self.instances.iter().find(|instance| {
                    [&instance.project, &instance.zone, &instance.name] == [*project, *zone, *name]
                });
                match found {
                    Some(instance) => answer(200, &instance.body(), &[]),
                    None => refusal(404, "The resource was not found", "notFound"),
                }
            }
            (Method::Get, ["projects", "p1", "aggregated", "instanceGroups"]) => {
                let fields = "items/*/instanceGroups/name,nextPageToken";
                assert_eq!(query.get("fields").map(String::as_str), Some(fields));
                self.page(&self.groups, &query, |groups| {
                    let mut places = json!({"global": {"warning": {"code": "NO_RESULTS_ON_PAGE"}}});
                    for group in groups {
                        let place = &mut places[&group.place]["instanceGroups"];
                        if place.is_null() {
                            *place = json!([]);
                        }
                        place
                            .as_array_mut()
                            .unwrap()
                            .push(json!({"name": group.name}));
                    }
                    places
                })
            }
            (
                Method::Post,
                [
                    "projects",
                    "p1",
                    scope,
                    location,
                    "instanceGroups",
                    name,
                    "listInstances",
                ],
            ) => {
                assert_eq!(request.body, b"{}");
                let place = format!("{scope}/{location}");
                let wanted = |group: &&Group| group.place == place && group.name == *name;
                match self.groups.iter().find(wanted) {
                    Some(group) => self.page(&group.members, &query, |links| {
                        links.iter().map(|link| json!({"instance": link})).collect()
                    }),
                    None => refusal(404, "The resource was not found", "notFound"),
                }
            }
            (_, other) => panic!("nobody should ask compute for {other:?}"),
        }
    }

    fn page<T>(
        &self,
        all: &[T],
        query: &HashMap<String, String>,
        items: impl Fn(&[T]) -> Value,
    ) -> HttpResponse {
        let begin: usize = query
            .get("pageToken")
            .map_or(0, |token| token.parse().unwrap());
        let end = (begin + self.page_size).min(all.len());
        let mut body = json!({});
        if begin < end {
            body["items"] = items(&all[begin..end]);
        }
        if end < all.len() || self.page_size == 0 {
            body["nextPageToken"] = end.to_string().into();
        }
        answer(200, &body, &[])
    }
}
