//! A Google that lives on loopback: keys, accounts and tokens for tests and for the dev command.
//!
//! [`FakeGoogle`] serves, over plain HTTP on `127.0.0.1`, the part of Google that proves who a service account is:
//!
//! | Path | What |
//! |---|---|
//! | `GET /oauth2/v1/certs`, `GET /oauth2/v3/certs` | Google's own signing keys, as X.509 certificates and as JWKs |
//! | `GET /service_accounts/v1/metadata/x509/<account>`, `.../jwk/<account>` | the same two forms for one account |
//! | `POST /token` | exchanges a signed assertion for an access token |
//! | `GET /v1/projects/-/serviceAccounts/<account>` | one account's record; needs an access token |
//!
//! It is a real verifier, not a script of answers: an assertion with a bad signature gets no token, and a call without a
//! token gets Google's 401. Accounts, keys, cache headers and failures can be changed while it runs, and every call is
//! counted, so a test can say both what a client answered and what it asked Google.
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

mod account;
mod answer;
mod cache_headers;
mod description;
mod endpoint;
mod error;
mod fault;
mod google;
mod iam;
mod instance;
mod journal;
mod jwt;
mod key_documents;
mod oauth;
mod population;
mod server;
mod signing_key;
mod start;
mod state;

pub use account::AccountSpec;
pub use cache_headers::CacheHeaders;
pub use description::{AccountDescription, Description, KeyDescription};
pub use endpoint::Endpoint;
pub use error::FakeGoogleError;
pub use fault::Fault;
pub use google::FakeGoogle;
pub use instance::{IdentityFormat, Instance};
pub use journal::RecordedRequest;
pub use jwt::Claims;
pub use population::Population;
pub use signing_key::SigningKey;
pub use start::FakeGoogleOptions;
