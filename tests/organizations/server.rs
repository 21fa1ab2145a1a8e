//! One server for each edition, shared by all tests of this program.

use std::sync::OnceLock;

pub use gatehouse_orgs::Edition;
use gatehouse_tests::{Installation, Program, Storage};
use serde_json::json;

use crate::HOST;
use crate::described::Description;
use crate::documents::resource;
use crate::session::{Client, Session};

/// A running server, and the token of its administrator.
pub struct Server {
    edition: Edition,
    installation: Installation,
    connections: reqwest::blocking::Client,
    administrator: String,
}

impl Server {
    /// The server of this edition, which is started for the first test that wants it.
    pub fn shared(edition: Edition) -> &'static Self {
        static HOSTED: OnceLock<Server> = OnceLock::new();
        static SELF_HOSTED: OnceLock<Server> = OnceLock::new();
        let server = match edition {
            Edition::Hosted => &HOSTED,
            Edition::SelfHosted => &SELF_HOSTED,
        };
        server.get_or_init(|| Self::run(HOST.program().ended_with_the_tests(), edition, ""))
    }

    /// A server that no other test uses: what is the same for all its organizations may be changed. `settings` is added to its
    /// configuration file.
    pub fn start(edition: Edition, settings: &str) -> Self {
        Self::run(HOST.program(), edition, settings)
    }

    fn run(program: Program, edition: Edition, settings: &str) -> Self {
        let name = edition.as_str();
        let settings = format!("[organizations]\nedition = {name:?}\n\n{settings}");
        let installation =
            Installation::start_program(program, Storage::Memory, &settings).unwrap();
        let administrator = installation.root_token().to_owned();
        let connections = reqwest::blocking::Client::new();
        let mut server = Self {
            edition,
            installation,
            connections,
            administrator,
        };
        Description::read_once(|| server.description());
        server.administrator = server.user(true);
        server
    }

    /// The description of the API, as it is served.
    fn description(&self) -> String {
        let address = format!("{}/api/v2/openapi.json", self.address());
        let answer = self.connections.get(address).send().unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        answer.text().unwrap()
    }

    pub fn edition(&self) -> Edition {
        self.edition
    }

    pub fn is_hosted(&self) -> bool {
        self.edition == Edition::Hosted
    }

    /// Scheme, host and port.
    pub fn address(&self) -> String {
        format!("http://{}", self.installation.address())
    }

    pub fn connections(&self) -> &reqwest::blocking::Client {
        &self.connections
    }

    /// The text of the operator's service token.
    pub fn root_token(&self) -> &str {
        self.installation.root_token()
    }

    /// The service token of the operator, which administers the site as well.
    pub fn root(&self) -> Session<'_> {
        Session::new(self, Client::GoTfe, Some(self.installation.root_token()))
    }

    /// A user who administers the site, with the Go client.
    pub fn administrator(&self) -> Session<'_> {
        Session::new(self, Client::GoTfe, Some(&self.administrator))
    }

    /// A session with this token, and with the Go client.
    pub fn bearer(&self, token: &str) -> Session<'_> {
        Session::new(self, Client::GoTfe, Some(token))
    }

    /// A session without a token.
    pub fn nobody(&self) -> Session<'_> {
        Session::new(self, Client::GoTfe, None)
    }

    /// The token of a new user.
    pub fn user(&self, is_site_administrator: bool) -> String {
        let name = format!("user-{}", crate::fixtures::unique());
        let attributes = json!({
            "username": name,
            "email": format!("{name}@tfe.local"),
            "is-site-admin": is_site_administrator,
        });
        self.root()
            .post("admin/users", &resource("users", attributes))
            .expect(201)
            .text("/meta/token")
    }
}
