//! A Google that lives on loopback: keys, accounts and tokens for tests and for the dev command.
//!
//! [`FakeGoogle`] serves, over plain HTTP on `127.0.0.1`, the parts of Google that prove who a service account or an
//! instance is, and that turn credentials into access tokens:
//!
//! | Path | What |
//! |---|---|
//! | `GET /oauth2/v1/certs`, `GET /oauth2/v3/certs` | Google's own signing keys, as X.509 certificates and as JWKs |
//! | `GET /service_accounts/v1/metadata/x509/<account>`, `.../jwk/<account>` | the same two forms for one account |
//! | `POST /token` | exchanges a signed assertion, or a person's refresh token, for an access token |
//! | `POST /v1/token` | exchanges the token of another issuer for a federated access token |
//! | `GET /v1/projects/-/serviceAccounts/<account>` | one account's record |
//! | `POST .../<account>/keys`, `DELETE .../<account>/keys/<key>` | makes and deletes an account's keys |
//! | `POST .../<account>:generateAccessToken`, `POST .../<account>:signJwt` | acts in an account's name |
//! | `GET /compute/v1/projects/<project>/zones/<zone>/instances/<instance>` | an instance |
//! | `GET /compute/v1/projects/<project>/aggregated/instanceGroups` | a project's instance groups, by page |
//! | `POST .../zones/<zone>/instanceGroups/<group>/listInstances`, `POST .../regions/<region>/...` | a group's members, by page |
//! | `POST /v1/projects/<project>:getAncestry`, `POST /v1/projects/<project>:testIamPermissions` | what lies above a project, and what the caller may do in it |
//! | `GET /computeMetadata/v1/instance/service-accounts/<account>/token`, `.../identity` | the metadata server |
//!
//! It is a real verifier, not a script of answers: an assertion with a bad signature gets no token, a call without a
//! token gets Google's 401, and a caller whose permission was taken away gets Google's 403. What exists, who may do what,
//! cache headers and failures can be changed while it runs, and every call is counted, so a test can say both what a
//! client answered and what it asked Google.
//!
//! ```
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use gatehouse_fake_google::{Endpoint, Fault, FakeGoogle, FakeGoogleOptions};
//!
//! let google = FakeGoogle::start(FakeGoogleOptions::default()).await?;
//! let login_jwt = google.sign_login_jwt("workload@demo-project.iam.gserviceaccount.com", "dev")?;
//! google.set_fault(Endpoint::ServiceAccount, Fault::unavailable());
//! // ... log in at a server whose endpoints point to `google.base_url()` ...
//! assert_eq!(google.calls(Endpoint::ServiceAccount), 0);
//! # Ok(())
//! # }
//! ```

mod access_tokens;
mod account;
mod answer;
mod cache_headers;
mod call;
mod caller;
mod compute;
mod description;
mod endpoint;
mod error;
mod fault;
mod google;
mod iam;
mod instance;
mod journal;
mod jwk;
mod jwt;
mod key_documents;
mod key_file;
mod metadata;
mod oauth;
mod population;
mod resource_manager;
mod route;
mod security_token;
mod server;
mod signing_key;
mod start;
mod state;
mod timestamp;

pub use account::AccountSpec;
pub use cache_headers::CacheHeaders;
pub use compute::{InstanceGroup, Location};
pub use description::{AccountDescription, Description, KeyDescription};
pub use endpoint::Endpoint;
pub use error::FakeGoogleError;
pub use fault::Fault;
pub use google::FakeGoogle;
pub use instance::{IdentityFormat, Instance, InstanceStatus};
pub use journal::RecordedRequest;
pub use jwt::Claims;
pub use population::Population;
pub use resource_manager::Ancestor;
pub use security_token::{IssuerKeys, WorkloadIdentityProvider};
pub use signing_key::SigningKey;
pub use start::FakeGoogleOptions;
