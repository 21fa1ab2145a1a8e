//! Fixtures of the Go client's own tests, made with the same requests (contract 6.1).

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::documents::{self, resource};
use crate::session::{Reply, Session};

/// A name that nothing else has: a UUID.
pub fn unique() -> String {
    let bytes: [u8; 16] = std::array::from_fn(|_| fastrand::u8(..));
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}

pub fn unique_email() -> String {
    format!("{}@tfe.local", unique())
}

/// A point of time without a fraction, a number of hours from now, as the Go client writes it and as the server does.
pub fn hours_from_now(hours: i64) -> (String, String) {
    let time = Timestamp::now() + SignedDuration::from_hours(hours);
    let seconds = time.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    (format!("{seconds}Z"), format!("{seconds}.000Z"))
}

/// An organization that is removed with the test.
pub struct Organization<'a> {
    session: Session<'a>,
    pub name: String,
    /// The resource that its creation answered.
    pub created: Value,
}

impl<'a> Organization<'a> {
    /// With the attributes that the Go client's tests give every organization.
    pub fn new(session: &Session<'a>) -> Self {
        Self::with(
            session,
            json!({"cost-estimation-enabled": true, "stacks-enabled": true}),
        )
    }

    /// With these attributes besides a name and an e-mail address, where they have none.
    pub fn with(session: &Session<'a>, attributes: Value) -> Self {
        let mut all = json!({"name": format!("tst-{}", unique()), "email": unique_email()});
        for (name, value) in attributes.as_object().unwrap() {
            all[name] = value.clone();
        }
        let created = session
            .post("organizations", &documents::organization(all))
            .expect(201);
        Self {
            session: session.clone(),
            name: created.id(),
            created: created.data(),
        }
    }

    pub fn email(&self) -> &str {
        self.created["attributes"]["email"].as_str().unwrap()
    }

    pub fn external_id(&self) -> &str {
        self.created["attributes"]["external-id"].as_str().unwrap()
    }

    /// A path below the organization's.
    pub fn path(&self, below: &str) -> String {
        format!("organizations/{}/{below}", self.name)
    }

    pub fn show(&self) -> Reply {
        self.session.get(&format!("organizations/{}", self.name))
    }

    pub fn patch(&self, body: &Value) -> Reply {
        self.session
            .patch(&format!("organizations/{}", self.name), body)
    }

    /// Changes attributes.
    pub fn update(&self, attributes: Value) -> Reply {
        self.patch(&documents::organization(attributes))
    }

    pub fn delete(&self) -> Reply {
        self.session.delete(&format!("organizations/{}", self.name))
    }

    /// A new pool of agents; its id.
    pub fn agent_pool(&self) -> String {
        self.named_agent_pool(&unique()).id()
    }

    pub fn named_agent_pool(&self, name: &str) -> Reply {
        let pool = resource("agent-pools", json!({"name": name}));
        self.session
            .post(&self.path("agent-pools"), &pool)
            .expect(201)
    }

    /// A new team with the rights that the Go client's tests give every team.
    pub fn team(&self) -> Reply {
        let access = json!({
            "manage-policies": true,
            "manage-policy-overrides": true,
            "delegate-policy-overrides": true,
            "manage-providers": true,
            "manage-modules": true,
        });
        self.team_with(json!({"organization-access": access}))
    }

    /// A new team with these attributes besides its name.
    pub fn team_with(&self, mut attributes: Value) -> Reply {
        attributes["name"] = unique().into();
        let team = resource("teams", attributes);
        self.session.post(&self.path("teams"), &team).expect(201)
    }

    /// The id of the team `owners`, the only one of a new organization.
    pub fn owners(&self) -> String {
        let path = self.path("teams?filter%5Bnames%5D=owners");
        let ids = self.session.get(&path).expect(200).ids();
        assert_eq!(ids.len(), 1, "{path}");
        ids[0].clone()
    }

    /// Invites a new address.
    pub fn membership(&self) -> Reply {
        let membership = resource("organization-memberships", json!({"email": unique_email()}));
        self.session
            .post(&self.path("organization-memberships"), &membership)
            .expect(201)
    }

    /// Makes the organization's token.
    pub fn token(&self) -> Reply {
        self.token_with(json!({}))
    }

    /// The same with attributes. The Go client sends no type.
    pub fn token_with(&self, attributes: Value) -> Reply {
        self.session
            .post(
                &self.path("authentication-token"),
                &resource("", attributes),
            )
            .expect(201)
    }

    /// Makes the token that reads the audit trail.
    pub fn audit_token(&self) -> Reply {
        let path = self.path("authentication-token?token=audit-trails");
        self.session
            .post(&path, &resource("", json!({})))
            .expect(201)
    }

    /// Puts the organization under a plan that a site administrator looks up by its name.
    pub fn subscribe(&self, plan: &str, terms: Value) {
        let administrator = self.session.server().administrator();
        let query: String = plan
            .replace(' ', "+")
            .replace('(', "%28")
            .replace(')', "%29");
        let found = administrator
            .get(&format!("admin/feature-sets?q={query}"))
            .expect(200)
            .shows("/data/0/attributes/name", plan);
        let mut body = resource("subscription", terms);
        body["data"]["relationships"] = json!({
            "feature-set": {"data": {"type": "feature-sets", "id": found.text("/data/0/id")}},
        });
        let path = format!("admin/organizations/{}/subscription", self.name);
        let subscribed = administrator.post(&path, &body);
        assert!(subscribed.status < 300, "{}", subscribed.body);
    }

    pub fn subscribe_business(&self) {
        self.subscribe(
            "Business",
            json!({
                "runs-ceiling": 10,
                "agents-ceiling": 10,
                "contract-start-at": hours_from_now(0).0,
                "end-at": hours_from_now(365 * 24).0,
                "contract-user-limit": 1000,
                "contract-apply-limit": 5000,
            }),
        );
    }
}

impl Drop for Organization<'_> {
    /// Asks for its stacks, as the Go client's tests do, and removes it, unless the test did.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let administrator = self.session.server().administrator();
        let stacks = administrator.get(&self.path("stacks?page%5Bsize%5D=100"));
        let removed = administrator.delete(&format!("organizations/{}", self.name));
        match removed.status {
            204 => assert_eq!(stacks.expect(200).items(), Vec::<Value>::new()),
            404 => {
                stacks.expect_not_found();
            }
            _ => panic!("{}: {} {}", removed.label, removed.status, removed.body),
        }
    }
}

/// The same with attributes; one with a description is another of the team's tokens.
pub fn team_token_with(session: &Session<'_>, team: &str, attributes: Value) -> Reply {
    let path = match attributes.get("description") {
        Some(_) => format!("teams/{team}/authentication-tokens"),
        None => format!("teams/{team}/authentication-token"),
    };
    session.post(&path, &resource("", attributes))
}
