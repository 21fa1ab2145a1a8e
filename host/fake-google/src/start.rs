//! The start of the fake: the population and settings that it begins with.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::access_tokens::AccessTokens;
use crate::account::Account;
use crate::cache_headers::CacheHeaders;
use crate::caller::Denials;
use crate::compute::{LARGEST_PAGE, LINK_BASE, PageSizes};
use crate::endpoint::Endpoint;
use crate::error::FakeGoogleError;
use crate::fault::Faults;
use crate::instance::Instance;
use crate::journal::Journal;
use crate::metadata::MetadataServer;
use crate::oauth::Users;
use crate::population::Population;
use crate::signing_key::SigningKey;
use crate::state::State;

/// The name under which Google certifies its own keys.
pub(crate) const GOOGLE_KEY_OWNER: &str = "federated-signon.system.gserviceaccount.com";
/// The endpoints whose answers clients may keep.
const KEY_DOCUMENTS: [Endpoint; 4] = [
    Endpoint::GoogleCertificates,
    Endpoint::GoogleKeySet,
    Endpoint::AccountCertificates,
    Endpoint::AccountKeySet,
];

/// How the fake starts.
#[derive(Clone, Debug)]
pub struct FakeGoogleOptions {
    /// The accounts and instances that exist from the start.
    pub population: Population,
    /// How long access tokens live, cut to whole seconds.
    pub access_token_lifetime: Duration,
    /// How long clients are told that they may keep a key document, cut to whole seconds.
    pub key_document_lifetime: Duration,
}

impl Default for FakeGoogleOptions {
    /// The demonstration population, with access tokens and key documents that live for an hour.
    fn default() -> Self {
        Self {
            population: Population::demo(),
            access_token_lifetime: Duration::from_secs(3600),
            key_document_lifetime: Duration::from_secs(3600),
        }
    }
}

/// Makes the keys of a population, on threads of their own, and the state in which the fake starts.
///
/// # Errors
///
/// When a key cannot be made, or the population names an account, an instance or a group twice.
pub(crate) async fn initial_state(options: FakeGoogleOptions) -> Result<State, FakeGoogleError> {
    tokio::task::spawn_blocking(move || build(options))
        .await
        .map_err(|_| FakeGoogleError::KeyGeneration)?
}

fn build(options: FakeGoogleOptions) -> Result<State, FakeGoogleError> {
    let keys = InitialKeys::generate(&options.population)?;
    let caching = CacheHeaders::max_age(options.key_document_lifetime);
    let population = options.population;
    let mut state = State {
        accounts: Vec::new(),
        instances: Vec::new(),
        instance_groups: Vec::new(),
        ancestors: population.ancestors,
        google_keys: vec![Arc::new(keys.google)],
        access_tokens: AccessTokens::new(options.access_token_lifetime),
        users: Users::default(),
        providers: BTreeMap::new(),
        denials: Denials::default(),
        key_propagation: 0,
        proxied: false,
        metadata_server: MetadataServer::of_instance(
            population.instances.first().map(Instance::path),
        ),
        page_sizes: PageSizes {
            groups: LARGEST_PAGE,
            members: LARGEST_PAGE,
        },
        member_link_base: LINK_BASE.to_owned(),
        cache_headers: BTreeMap::from(KEY_DOCUMENTS.map(|document| (document, caching.clone()))),
        faults: Faults::default(),
        journal: Journal::default(),
    };
    for (spec, key) in population.accounts.into_iter().zip(keys.accounts) {
        state.add_account(Account::new(spec, key))?;
    }
    for instance in population.instances {
        state.add_instance(instance)?;
    }
    for group in population.instance_groups {
        state.add_instance_group(group)?;
    }
    Ok(state)
}

/// Google's first key, and one for each account of a population in its order.
struct InitialKeys {
    google: SigningKey,
    accounts: Vec<SigningKey>,
}

impl InitialKeys {
    /// Makes the keys side by side: each takes far longer than everything else at the start.
    fn generate(population: &Population) -> Result<Self, FakeGoogleError> {
        thread::scope(|scope| {
            let google = scope.spawn(|| SigningKey::generate(GOOGLE_KEY_OWNER));
            let accounts: Vec<_> = population
                .accounts
                .iter()
                .map(|spec| scope.spawn(|| SigningKey::generate(&spec.unique_id)))
                .collect();
            Ok(Self {
                google: finish(google)?,
                accounts: accounts.into_iter().map(finish).collect::<Result<_, _>>()?,
            })
        })
    }
}

fn finish(
    key: ScopedJoinHandle<'_, Result<SigningKey, FakeGoogleError>>,
) -> Result<SigningKey, FakeGoogleError> {
    key.join().map_err(|_| FakeGoogleError::KeyGeneration)?
}
