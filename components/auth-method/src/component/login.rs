//! The interface `login`.

use super::bindings::exports::gatehouse::auth_method::login as wit;
use super::bindings::exports::gatehouse::auth_method::types::Mount;
use super::{Component, SERVICE};
use crate::AuthMethod;
use crate::crossing::Across;

impl wit::Guest for Component {
    fn login(mount: Mount, request: wit::LoginRequest) -> Result<wit::Identity, wit::LoginError> {
        SERVICE.with(|service| service.login(&mount.across(), &request.across()).across())
    }

    fn explain(mount: Mount, request: wit::LoginRequest) -> Vec<wit::CheckReport> {
        SERVICE.with(|service| service.explain(&mount.across(), &request.across()).across())
    }

    fn revalidate(
        mount: Mount,
        request: wit::RenewalRequest,
    ) -> Result<wit::Renewed, wit::RenewalError> {
        SERVICE.with(|service| {
            service
                .revalidate(&mount.across(), &request.across())
                .across()
        })
    }
}
