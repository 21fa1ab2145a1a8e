//! Admission of one request: the identity of the caller, and the decision about the request (SEC-A1 to A4).

use std::borrow::Cow;
use std::sync::Arc;

use gatehouse_ports::{Clock, Entry, Random, Store};

use crate::api::{
    Admission, AdmissionError, Capability, LookupError, Mount, Operation, Request, Requests,
    TokenReference, WritePermission,
};
use crate::foundation_guesses::GuessedReads;
use crate::identity::TokenIdentity;
use crate::mounts::{GCP_TYPE, MAXIMUM_MOUNT_SEGMENTS};
use crate::policy::{AskedPath, Identity, Question, Rule, Verdict, needs_sudo};
use crate::records::{MountRecord, mount_key};
use crate::rights::{needs_no_policy, needs_no_token};
use crate::service::AccessService;
use crate::token_location::{LocatedToken, TokenLocation};
use crate::token_store::{LiveToken, ReadScope};
use crate::uses::LastUse;
use crate::wrapping::LOOKUP_PATH;

/// Longest path, in bytes.
const MAXIMUM_PATH_BYTES: usize = 1024;
/// Most segments of a path.
const MAXIMUM_PATH_SEGMENTS: usize = 16;

/// The beginning of every auth mount's path.
const AUTH_PREFIX: &str = "auth/";

/// A mount and what of the path lies inside it.
struct Resolved<'a> {
    mount: Arc<MountRecord>,
    remainder: &'a str,
}

/// The records of one round trip.
struct ReadTogether<'a> {
    resolved: Option<Resolved<'a>>,
    /// The entry that leads to the token's record.
    token_entry: Option<Entry>,
    guessed: Option<GuessedReads<'a>>,
}

impl Resolved<'_> {
    /// True if this is where clients without a token get one.
    fn is_login(&self) -> bool {
        self.mount.mount_type == GCP_TYPE && self.remainder == "login"
    }
}

/// The verdict of the policies on one path.
enum Rights<'t> {
    Root,
    Ruled(Verdict<'t>),
}

impl Rights<'_> {
    fn allows(&self, capability: Capability) -> bool {
        match self {
            Self::Root => true,
            Self::Ruled(verdict) => verdict.allows(capability),
        }
    }

    fn unconditional(&self) -> Vec<Capability> {
        match self {
            Self::Root => vec![Capability::Root],
            Self::Ruled(verdict) => verdict.unconditional_capabilities(),
        }
    }
}

/// The rights of an authorized request.
struct Authorization {
    write: WritePermission,
    sudo: bool,
    unconditional: Vec<Capability>,
}

impl<S: Store, C: Clock, R: Random> Requests for AccessService<S, C, R> {
    fn admit(&self, request: &Request) -> Result<Admission, AdmissionError> {
        // Only a caller who has shown a valid token hears that the path cannot be served.
        let malformed = !is_canonical(&request.path);
        // Without a token the answer must still tell a server without a secret from one without this token.
        let hasher = self.hasher()?;
        let token = request.token.as_deref();
        let location = token.map(|it| TokenLocation::new(hasher, it));
        // Help may be asked for at the mount itself, where nothing else is.
        let helps = request.operation == Operation::Help;
        let path = request.path.as_str();
        let located_path = match path {
            _ if malformed => Cow::Borrowed(""),
            path if helps => Cow::Owned(format!("{path}/")),
            path => Cow::Borrowed(path),
        };
        let ReadTogether {
            mut resolved,
            token_entry,
            guessed,
        } = self.read_mount_and_token(&located_path, location.as_ref())?;
        if let Some(resolved) = resolved.as_mut().filter(|_| helps) {
            resolved.remainder = resolved.remainder.trim_end_matches('/');
        }
        let login = resolved.as_ref().filter(|resolved| resolved.is_login());
        let by_anybody = path == LOOKUP_PATH || request.token.is_none() && needs_no_token(path);
        if login.is_some() || by_anybody {
            return Ok(Admission {
                caller: None,
                mount: login.map(|login| login.mount.in_force()),
                remainder: login.map_or(path, |login| login.remainder).to_owned(),
                write: no_write(),
                sudo: false,
                limited_uses: false,
                unconditional: Vec::new(),
            });
        }

        let located = location.ok_or(AdmissionError::NoToken)?;
        let located = located.load::<S>(token_entry)?;
        let located = located.ok_or(AdmissionError::InvalidToken)?;
        let limited_uses = located.record.num_uses > 0;
        let token = self.authenticate(request, located, guessed)?;
        if malformed {
            self.spend_use(token, request, LastUse::Ends)?;
            return Err(AdmissionError::MalformedPath);
        }
        let authorized = match self.authorize(&token, request) {
            Err(undecided @ (AdmissionError::ParametersNeeded | AdmissionError::Failure(_))) => {
                return Err(undecided);
            }
            decided => decided,
        };
        let last_use = LastUse::new(request, authorized.is_ok());
        let token = self.spend_use(token, request, last_use)?;
        let Authorization {
            write,
            sudo,
            unconditional,
        } = authorized?;
        let caller = Some(token.view(self.clock.now_seconds()));
        let (mount, remainder) = match resolved {
            Some(Resolved { mount, remainder }) => (Some(mount.in_force()), remainder),
            None if path.starts_with(AUTH_PREFIX) => (Some(self.mount_itself(path)?), ""),
            None => (None, path),
        };
        Ok(Admission {
            caller,
            mount,
            remainder: remainder.to_owned(),
            write,
            sudo,
            limited_uses,
            unconditional,
        })
    }

    fn capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        self.capabilities_on(reference, paths, |verdict| verdict.capabilities())
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The mount whose own path this is, by a read of its own: such a path serves nothing but help, and every other request on it fails.
    /// A path that is not even that of a mount gets an error of its own (contract 1.6).
    fn mount_itself(&self, path: &str) -> Result<Mount, AdmissionError> {
        let path = format!("{path}/");
        let read = self.read_mount_and_token(&path, None)?;
        let resolved = read
            .resolved
            .filter(|resolved| resolved.remainder.is_empty());
        Ok(resolved.ok_or(AdmissionError::NoMount)?.mount.in_force())
    }

    /// The mount that serves `path`, what leads to the token's record, and what its last request needed besides, in one round trip.
    fn read_mount_and_token<'a>(
        &'a self,
        path: &'a str,
        token: Option<&TokenLocation>,
    ) -> Result<ReadTogether<'a>, AdmissionError> {
        let candidates = path
            .strip_prefix(AUTH_PREFIX)
            .into_iter()
            .flat_map(|inside| {
                inside
                    .match_indices('/')
                    .take(MAXIMUM_MOUNT_SEGMENTS)
                    .filter_map(move |(at, _)| inside.split_at_checked(at + 1))
            })
            .map(|(mount_path, remainder)| (mount_key(mount_path), remainder));
        let (mount_keys, remainders): (Vec<String>, Vec<&str>) = candidates.unzip();
        let token_key = token.map(TokenLocation::key);
        let hash = token.and_then(TokenLocation::stored_hash);
        let guess = hash.and_then(|hash| self.guesses.keys_for(hash));
        let guessed_keys = guess.iter().flat_map(|keys| keys.iter().cloned());
        let keys = mount_keys.into_iter().chain(token_key);
        let mut reads = self.read_cached(keys.chain(guessed_keys))?;

        // Mounts never nest, so at most one of the candidates exists.
        let mut resolved = None;
        for remainder in remainders {
            if let Some(mount) = reads.next_record::<MountRecord>()? {
                resolved = Some(Resolved {
                    mount: mount.record,
                    remainder,
                });
            }
        }
        let token_entry = reads.next_entry();
        if let (Some(hash), None) = (hash, &token_entry) {
            self.guesses.forget(hash);
        }
        Ok(ReadTogether {
            resolved,
            token_entry,
            guessed: guess.map(|keys| GuessedReads { keys, reads }),
        })
    }

    /// The caller's token, valid here and now.
    fn authenticate(
        &self,
        request: &Request,
        located: LocatedToken,
        guessed: Option<GuessedReads<'_>>,
    ) -> Result<LiveToken, AdmissionError> {
        let token = self
            .live_token(located, ReadScope::LivenessAndRules, guessed)?
            .ok_or(AdmissionError::InvalidToken)?;
        if !token.may_be_used_from(request.source_address) {
            return Err(AdmissionError::AddressDenied);
        }
        if token.has_unusable_entity() {
            return Err(AdmissionError::EntityUnusable);
        }
        Ok(token)
    }

    pub(crate) fn capabilities_on(
        &self,
        reference: &TokenReference,
        paths: &[String],
        of: impl Fn(&Verdict<'_>) -> Vec<Capability>,
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        let token = self
            .find_with(reference, ReadScope::LivenessAndRules)?
            .filter(|token| !token.has_unusable_entity())
            .ok_or(LookupError::UnknownToken)?;
        let paths = || {
            paths
                .iter()
                .map(|path| path.strip_prefix('/').unwrap_or(path))
        };
        let asked: Vec<AskedPath<'_>> = paths().map(AskedPath::new).collect();
        let matters = |rule: &Rule| asked.iter().any(|path| rule.may_match(path));
        let identity = self.identity_of(&token, matters)?;
        let shown = |path: &str| {
            // A trailing `/` asks about the listing.
            match rights_on(&token, identity.as_ref(), path, path.ends_with('/')) {
                Rights::Root => vec![Capability::Root],
                Rights::Ruled(verdict) => of(&verdict),
            }
        };
        Ok(paths().map(shown).collect())
    }

    /// The rights of the caller, or the reason of the refusal; asking changes nothing.
    fn authorize(
        &self,
        token: &LiveToken,
        request: &Request,
    ) -> Result<Authorization, AdmissionError> {
        let (operation, path) = (request.operation, request.path.as_str());
        let lists = operation == Operation::List;
        // However it was asked for, a list is one of what lies below the path (SEC-A3).
        let asked = match path.strip_suffix('/') {
            None if lists => Cow::Owned(format!("{path}/")),
            // Everything else is done without a slash at the end, and so judged without it.
            Some(bare) if !lists && !bare.is_empty() => Cow::Borrowed(bare),
            _ => Cow::Borrowed(path),
        };
        let asked_path = AskedPath::new(&asked);
        let identity = self.identity_of(token, |rule| rule.may_match(&asked_path))?;
        let rights = rights_on(token, identity.as_ref(), &asked, lists);
        let sudo = rights.allows(Capability::Sudo);
        if operation == Operation::Help || needs_no_policy(path) {
            return Ok(Authorization {
                write: no_write(),
                sudo,
                unconditional: Vec::new(),
            });
        }
        if needs_sudo(path, lists) && !sudo {
            return Err(AdmissionError::Denied);
        }
        let mut write = no_write();
        let granted = match operation {
            Operation::Read | Operation::Help => rights.allows(Capability::Read),
            Operation::List => rights.allows(Capability::List),
            Operation::Update => rights.allows(Capability::Update),
            Operation::Patch => rights.allows(Capability::Patch),
            Operation::Delete => rights.allows(Capability::Delete),
            Operation::CreateOrUpdate => {
                write.create = rights.allows(Capability::Create);
                write.update = rights.allows(Capability::Update);
                write.create || write.update
            }
        };
        if !granted {
            return Err(AdmissionError::Denied);
        }
        if let Rights::Ruled(verdict) = &rights {
            let parameters = match request.parameters.as_deref() {
                Some(parameters) => parameters,
                None if verdict.concerns_parameters(operation) => {
                    return Err(AdmissionError::ParametersNeeded);
                }
                None => &[],
            };
            if !verdict.permits(operation, parameters, request.wrap_ttl) {
                return Err(AdmissionError::Denied);
            }
        }
        Ok(Authorization {
            write,
            sudo,
            unconditional: rights.unconditional(),
        })
    }
}

/// The verdict of the rules of `token` on `path`; its identity is asked for only where templates name it.
fn rights_on<'t>(
    token: &'t LiveToken,
    identity: Option<&TokenIdentity<'_>>,
    path: &str,
    list: bool,
) -> Rights<'t> {
    if token.record.is_root() {
        return Rights::Root;
    }
    let question = Question {
        path,
        list,
        identity: identity.map(|identity| identity as &dyn Identity),
    };
    Rights::Ruled(question.decide(token.rules()))
}

const fn no_write() -> WritePermission {
    WritePermission {
        create: false,
        update: false,
    }
}

/// True if evaluation and handlers cannot but see the same path (SEC-A2). The gateway has made it canonical; this only refuses.
fn is_canonical(path: &str) -> bool {
    let inner = path.strip_suffix('/').unwrap_or(path);
    (1..=MAXIMUM_PATH_BYTES).contains(&path.len())
        && !path.chars().any(char::is_control)
        && inner.split('/').count() <= MAXIMUM_PATH_SEGMENTS
        && inner
            .split('/')
            .all(|segment| !matches!(segment, "" | "." | ".."))
}
