//! The capability as a component: it only turns types into one another.

mod failures;
mod from_wit;
mod identity;
mod leases;
mod migrations;
mod rights;
mod to_wit;
mod token_roles;
mod wrapping;

use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_storage::wasm::ImportedStore;

use crate::{Access, AccessService, Admission, Capability, Parameter, Request, Settings};
use from_wit::address;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/storage", "../../wit/access"],
        world: "gatehouse:access/access",
        with: {
            "gatehouse:storage/key-value@0.1.0": gatehouse_storage::wasm::bindings::gatehouse::storage::key_value,
        },
        generate_all,
    });

    use super::Component;
    export!(Component);
}

use bindings::exports::gatehouse::access::types as types_wit;
use bindings::exports::gatehouse::access::{
    identity as identity_wit, leases as leases_wit, migrations as migrations_wit,
    mounts as mounts_wit, policies as policies_wit, requests as requests_wit, rights as rights_wit,
    system as system_wit, tokens as tokens_wit, wrapping as wrapping_wit,
};

struct Component;

type Service = AccessService<ImportedStore, SystemClock, OsRandom>;

std::thread_local! {
    /// One for the life of the instance, so that the server's hashing key is read once, not for every request.
    static ACCESS: Service = AccessService::new(ImportedStore, SystemClock, OsRandom)
        .with_settings(Settings::from_variables(|name| std::env::var(name).ok()));
}

fn access<T>(call: impl FnOnce(&Service) -> T) -> T {
    ACCESS.with(call)
}

impl system_wit::Guest for Component {
    fn current_cluster() -> Result<Option<system_wit::Cluster>, types_wit::Failure> {
        Ok(access(Service::cluster)?.map(Into::into))
    }

    fn initialize(
        root_token: Option<String>,
    ) -> Result<system_wit::Initialized, system_wit::InitializeError> {
        Ok(access(|it| it.initialize(root_token.as_deref()))?.into())
    }

    fn generate_root() -> Result<String, types_wit::Failure> {
        Ok(access(Service::generate_root)?.expose().to_owned())
    }

    fn maintain() -> Result<(), types_wit::Failure> {
        Ok(access(Service::maintain)?)
    }
}

impl requests_wit::Guest for Component {
    fn admit(
        request: requests_wit::Request,
    ) -> Result<requests_wit::Admission, requests_wit::Refusal> {
        let parameters = request.parameters.map(|parameters| {
            let parameters = parameters.into_iter().map(Parameter::from);
            parameters.collect::<Vec<_>>()
        });
        let request = Request {
            token: request.token.as_deref(),
            operation: request.operation.into(),
            path: &request.path,
            source_address: address(request.source_address.as_deref()),
            wrap_ttl: request.wrap_ttl,
            parameters: parameters.as_deref(),
        };
        let admission: Admission = access(|it| it.admit(&request))?;
        Ok(admission.into())
    }

    fn capabilities(
        token: types_wit::TokenReference,
        paths: Vec<String>,
    ) -> Result<Vec<Vec<types_wit::Capability>>, requests_wit::CapabilitiesError> {
        let lists: Vec<Vec<Capability>> = access(|it| it.capabilities((&token).into(), &paths))?;
        Ok(lists
            .into_iter()
            .map(|list| list.into_iter().map(Into::into).collect())
            .collect())
    }
}

impl tokens_wit::Guest for Component {
    fn issue_login(
        grant: tokens_wit::LoginGrant,
    ) -> Result<tokens_wit::Issued, tokens_wit::LoginError> {
        Ok(access(|it| it.issue_login(&grant.into()))?.into())
    }

    fn create(
        parent: tokens_wit::Parent,
        request: tokens_wit::CreateRequest,
    ) -> Result<tokens_wit::Issued, tokens_wit::CreateError> {
        Ok(access(|it| it.create_token(&(&parent).into(), &request.into()))?.into())
    }

    fn read(
        token: types_wit::TokenReference,
    ) -> Result<types_wit::TokenView, tokens_wit::LookupError> {
        Ok(access(|it| it.lookup_token((&token).into()))?.into())
    }

    fn renewal(
        token: types_wit::TokenReference,
        source_address: Option<String>,
    ) -> Result<tokens_wit::RenewalSubject, tokens_wit::RenewError> {
        let source_address = address(source_address.as_deref());
        Ok(access(|it| it.renewal((&token).into(), source_address))?.into())
    }

    fn renew(
        token: types_wit::TokenReference,
        increment: u64,
        fresh: Option<tokens_wit::Revalidated>,
    ) -> Result<tokens_wit::TokenGrant, tokens_wit::RenewError> {
        let fresh = fresh.map(Into::into);
        Ok(access(|it| it.renew_token((&token).into(), increment, fresh.as_ref()))?.into())
    }

    fn revoke(token: types_wit::TokenReference) -> Result<bool, tokens_wit::RevokeError> {
        Ok(access(|it| it.revoke_token((&token).into()))?)
    }

    fn revoke_alone(token: types_wit::TokenReference) -> Result<bool, tokens_wit::RevokeError> {
        Ok(access(|it| it.revoke_token_alone((&token).into()))?)
    }

    fn tidy() -> Result<bool, types_wit::Failure> {
        Ok(access(Service::tidy_tokens)?)
    }

    fn list_accessors(
        after: Option<String>,
        limit: u32,
    ) -> Result<types_wit::KeyPage, types_wit::Failure> {
        Ok(access(|it| it.list_accessors(after.as_deref(), limit))?.into())
    }
}

impl policies_wit::Guest for Component {
    fn list_names() -> Result<Vec<String>, types_wit::Failure> {
        Ok(access(Service::list_policies)?)
    }

    fn read(name: String) -> Result<Option<policies_wit::Policy>, types_wit::Failure> {
        Ok(access(|it| it.read_policy(&name))?.map(Into::into))
    }

    fn write(name: String, text: String) -> Result<(), policies_wit::PolicyError> {
        Ok(access(|it| it.write_policy(&name, &text))?)
    }

    fn delete(name: String) -> Result<(), policies_wit::PolicyError> {
        Ok(access(|it| it.delete_policy(&name))?)
    }
}

impl mounts_wit::Guest for Component {
    fn list_all() -> Result<Vec<mounts_wit::MountView>, types_wit::Failure> {
        let mounts = access(Service::list_mounts)?;
        Ok(mounts.into_iter().map(Into::into).collect())
    }

    fn read(path: String) -> Result<Option<mounts_wit::MountView>, types_wit::Failure> {
        Ok(access(|it| it.read_mount(&path))?.map(Into::into))
    }

    fn find(path: String) -> Result<Option<mounts_wit::MountView>, types_wit::Failure> {
        Ok(access(|it| it.find_mount(&path))?.map(Into::into))
    }

    fn enable(
        path: String,
        request: mounts_wit::MountRequest,
    ) -> Result<(), mounts_wit::MountError> {
        Ok(access(|it| it.enable_mount(&path, &request.into()))?)
    }

    fn tune(path: String, tuning: mounts_wit::MountTuning) -> Result<(), mounts_wit::TuneError> {
        Ok(access(|it| it.tune_mount(&path, &tuning.into()))?)
    }

    fn disable(path: String) -> Result<Option<String>, mounts_wit::MountError> {
        Ok(access(|it| it.disable_mount(&path))?)
    }

    fn list_disabled(limit: u32) -> Result<Vec<String>, types_wit::Failure> {
        Ok(access(|it| it.list_disabled_mounts(limit))?)
    }

    fn forget_disabled(id: String) -> Result<(), types_wit::Failure> {
        Ok(access(|it| it.forget_disabled_mount(&id))?)
    }
}
