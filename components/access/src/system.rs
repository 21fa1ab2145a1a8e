//! The first start of a server, root tokens, and the work that is due without a request.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Clock, Random, RandomError, Store};
use gatehouse_storage::{Transaction, TransactionError};
use zeroize::Zeroizing;

use crate::api::{
    BATCH_TOKEN_PREFIX, ClientToken, Cluster, InitializeError, Initialized, MountConfiguration,
    PolicyError, ServiceError, System,
};
use crate::generation::Generations;
use crate::identity::Named;
use crate::policies::POLICY_NAMES;
use crate::policy::{DEFAULT, DEFAULT_TEXT, ROOT};
use crate::random;
use crate::records::{
    FIRST_ROOT_PATH, MountRecord, SYSTEM_KEY, SystemRecord, TOKEN_MOUNT, TokenRecord, mount_key,
};
use crate::secret::IdentifierHasher;
use crate::service::AccessService;
use crate::token_roles::TOKEN_ROLE_NAMES;
use crate::token_store::put_new_token;

/// Longest identifier that a person may choose for a token.
pub(crate) const MAXIMUM_CHOSEN_ID_BYTES: usize = 256;

/// True if a person may choose `text` as a token: it names a record, so it must not pass for one that carries its own.
pub(crate) fn is_usable_token_text(text: &str) -> bool {
    (1..=MAXIMUM_CHOSEN_ID_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && !text.starts_with(BATCH_TOKEN_PREFIX)
}

/// A root token for a server that is yet to be made, generated at `now`, in milliseconds since 1970.
///
/// # Errors
///
/// When there is no randomness.
pub fn new_root_token(random: &impl Random, now: u64) -> Result<ClientToken, RandomError> {
    random::client_token(random, now)
}

impl<S: Store, C: Clock, R: Random> System for AccessService<S, C, R> {
    fn current_cluster(&self) -> Result<Option<Cluster>, ServiceError> {
        let system = self.records.get::<SystemRecord>(SYSTEM_KEY)?;
        Ok(system.map(|system| Cluster {
            id: system.record.cluster_id.clone(),
            name: system.record.cluster_name.clone(),
        }))
    }

    fn initialize(&self, chosen: Option<&str>) -> Result<Initialized, InitializeError> {
        let root_token = match chosen {
            None => random::client_token(&self.random, self.clock.now_milliseconds())?,
            Some(chosen) if is_usable_token_text(chosen) => ClientToken::new(chosen.to_owned()),
            Some(_) => return Err(InitializeError::UnusableRootToken),
        };
        let mut key = Zeroizing::new([0_u8; IdentifierHasher::KEY_BYTES]);
        self.random.fill(key.as_mut_slice())?;
        let hasher = IdentifierHasher::new(key.as_slice())
            .ok_or_else(|| ServiceError::Damaged("the server secret is malformed".to_owned()))?;

        let mut transaction = Transaction::new();
        transaction.require_absent(SYSTEM_KEY).put(
            SYSTEM_KEY,
            &SystemRecord {
                cluster_id: random::uuid(&self.random)?,
                cluster_name: format!("gatehouse-cluster-{}", random::eight_digits(&self.random)?),
                identifier_key: STANDARD.encode(key.as_slice()),
            },
        )?;
        let indexes = [
            POLICY_NAMES,
            TOKEN_ROLE_NAMES,
            Named::Entity.index(),
            Named::Group.index(),
        ];
        for index in indexes {
            index.stage_complete(&mut transaction)?;
        }
        let token_mount = self.new_token_mount()?;
        transaction.put(mount_key(&token_mount.path), &token_mount)?;
        self.stage_policy(&mut transaction, DEFAULT, DEFAULT_TEXT)
            .map_err(|error| match error {
                PolicyError::Failure(failure) => failure,
                error => ServiceError::Damaged(error.to_string()),
            })?;
        let mut record = self.root_record();
        let names = hasher.names(root_token.expose());
        put_new_token(&mut transaction, &hasher, &self.random, names, &mut record)?;

        match self.records.commit(transaction) {
            Ok(()) => Ok(Initialized {
                root_token: root_token.expose().to_owned(),
            }),
            Err(TransactionError::Conflict(_)) => Err(InitializeError::AlreadyInitialized),
            Err(TransactionError::Storage(error)) => Err(error.into()),
        }
    }

    fn generate_root(&self) -> Result<ClientToken, ServiceError> {
        let hasher = self.hasher()?;
        let root_token = random::client_token(&self.random, self.clock.now_milliseconds())?;
        let mut transaction = Transaction::new();
        let names = hasher.names(root_token.expose());
        let record = &mut self.root_record();
        put_new_token(&mut transaction, hasher, &self.random, names, record)?;
        match self.records.commit(transaction) {
            Ok(()) => Ok(root_token),
            Err(TransactionError::Conflict(_)) => Err(ServiceError::Contended),
            Err(TransactionError::Storage(error)) => Err(error.into()),
        }
    }

    fn maintain(&self) -> Result<(), ServiceError> {
        let rotated = self.rotate_batch_key();
        let indexed = self
            .advance_policy_names()
            .and(self.advance_token_role_names())
            .and(self.advance_names(Named::Entity))
            .and(self.advance_names(Named::Group));
        self.sweep().and(rotated).and(indexed.map(|_| ()))
    }

    fn count_tokens(&self) -> Result<Option<u64>, ServiceError> {
        self.count_further()
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    fn new_token_mount(&self) -> Result<MountRecord, ServiceError> {
        Ok(MountRecord {
            id: random::uuid(&self.random)?,
            accessor: format!("auth_token_{}", random::eight_digits(&self.random)?),
            path: TOKEN_MOUNT.to_owned(),
            mount_type: "token".to_owned(),
            description: "token based credentials".to_owned(),
            configuration: MountConfiguration::default(),
            options: BTreeMap::new(),
            local: false,
            seal_wrap: false,
            external_entropy_access: false,
            generations: Generations::default(),
        })
    }

    /// Without an accessor, which it gets when it is put.
    fn root_record(&self) -> TokenRecord {
        TokenRecord {
            accessor: String::new(),
            proof: None,
            ancestors: Vec::new(),
            origin: None,
            generation: 0,
            policies: vec![ROOT.to_owned()],
            entity_id: None,
            display_name: "root".to_owned(),
            path: FIRST_ROOT_PATH.to_owned(),
            role: None,
            metadata: None,
            bound_cidrs: Vec::new(),
            creation_time: self.clock.now_seconds(),
            creation_ttl: 0,
            expire_time: None,
            last_renewal_time: None,
            explicit_max_ttl: 0,
            period: 0,
            num_uses: 0,
            renewable: false,
            places: Vec::new(),
            keeps_secrets: false,
        }
    }
}
