//! Changes of a role by a write.

use gatehouse_ports::networks::is_network;

use crate::api::{
    ExcessiveLife, InvalidRange, MountTokenType, OldSpellings, RenamedField, ServiceField,
    TokenRole, TokenRoleChanges, TokenRoleError, TokenRoleWarning,
};
use crate::mount_configuration::token_type;
use crate::policy::{folded, sanitize};

/// Longest path suffix, in bytes.
const MAXIMUM_SUFFIX_BYTES: usize = 256;

/// A role of which nothing has been said.
pub(super) fn new_role(name: &str) -> TokenRole {
    TokenRole {
        name: name.to_owned(),
        allowed_policies: Vec::new(),
        allowed_policies_glob: Vec::new(),
        disallowed_policies: Vec::new(),
        disallowed_policies_glob: Vec::new(),
        allowed_entity_aliases: None,
        orphan: false,
        renewable: true,
        path_suffix: String::new(),
        bound_cidrs: Vec::new(),
        explicit_max_ttl: 0,
        no_default_policy: false,
        num_uses: 0,
        period: 0,
        token_type: MountTokenType::DefaultService,
        old_spellings: OldSpellings::default(),
    }
}

/// `role` as `changes` leave it, which must be a role that can make tokens.
pub(super) fn applied(
    mut role: TokenRole,
    changes: &TokenRoleChanges,
) -> Result<TokenRole, TokenRoleError> {
    require_bound(changes)?;
    set(&mut role.orphan, changes.orphan);
    set(&mut role.renewable, changes.renewable);
    if let Some(suffix) = &changes.path_suffix {
        require_usable(suffix)?;
        role.path_suffix.clone_from(suffix);
    }
    let allowed = changes.allowed_policies.as_ref();
    set(&mut role.allowed_policies, allowed.map(sanitize));
    let disallowed = changes.disallowed_policies.as_ref();
    set(&mut role.disallowed_policies, disallowed.map(folded));
    let allowed = changes.allowed_policies_glob.as_ref();
    set(&mut role.allowed_policies_glob, allowed.map(sanitize));
    let disallowed = changes.disallowed_policies_glob.as_ref();
    set(&mut role.disallowed_policies_glob, disallowed.map(folded));
    if let Some(aliases) = &changes.allowed_entity_aliases {
        role.allowed_entity_aliases = Some(folded(aliases));
    }
    set(&mut role.no_default_policy, changes.no_default_policy);
    if let Some(num_uses) = changes.num_uses {
        role.num_uses = u64::try_from(num_uses).map_err(|_| TokenRoleError::NegativeNumUses)?;
    }
    if let Some(name) = &changes.token_type {
        let unknown = || TokenRoleError::InvalidTokenType(name.clone());
        role.token_type = token_type(name).ok_or_else(unknown)?;
    }

    let old = &mut role.old_spellings;
    renamed(
        (&mut role.period, &mut old.period),
        (changes.period, changes.old_period),
    );
    renamed(
        (&mut role.explicit_max_ttl, &mut old.explicit_max_ttl),
        (changes.explicit_max_ttl, changes.old_explicit_max_ttl),
    );
    let new_ranges = ranges(changes.bound_cidrs.as_ref(), false)?;
    let old_ranges = ranges(changes.old_bound_cidrs.as_ref(), true)?;
    renamed(
        (&mut role.bound_cidrs, &mut old.bound_cidrs),
        (new_ranges, old_ranges),
    );
    require_consistent(&role)?;
    Ok(role)
}

/// The warnings to an operator about a role that was written.
pub(super) fn warnings(
    role: &TokenRole,
    changes: &TokenRoleChanges,
    mount_max: u64,
) -> Vec<TokenRoleWarning> {
    let twice = [
        (
            changes.period.is_some() && changes.old_period.is_some(),
            RenamedField::Period,
        ),
        (
            changes.bound_cidrs.is_some() && changes.old_bound_cidrs.is_some(),
            RenamedField::BoundCidrs,
        ),
        (
            changes.explicit_max_ttl.is_some() && changes.old_explicit_max_ttl.is_some(),
            RenamedField::ExplicitMaxTtl,
        ),
    ];
    let twice = twice.into_iter().filter(|(twice, _)| *twice);
    let ignored = twice.map(|(_, field)| TokenRoleWarning::OldSpellingIgnored(field));
    let explicit_max_ttl = role.explicit_max_ttl;
    let above = (explicit_max_ttl > mount_max).then_some(
        TokenRoleWarning::ExplicitMaxTtlAboveMount(ExcessiveLife {
            explicit_max_ttl,
            mount_max,
        }),
    );
    ignored.chain(above).collect()
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// Sets a field and what is shown under its old name: nothing once the new name was used.
fn renamed<T: Clone + Default>(field: (&mut T, &mut T), value: (Option<T>, Option<T>)) {
    match value {
        (Some(new), _) => (*field.0, *field.1) = (new, T::default()),
        (None, Some(old)) => (*field.0, *field.1) = (old.clone(), old),
        (None, None) => {}
    }
}

/// Refuses a list that holds only blanks where an empty list means "any" (SEC-A4): blanks are dropped from it.
fn require_bound(changes: &TokenRoleChanges) -> Result<(), TokenRoleError> {
    let lists = [
        &changes.allowed_policies,
        &changes.allowed_policies_glob,
        &changes.disallowed_policies,
        &changes.disallowed_policies_glob,
        &changes.allowed_entity_aliases,
        &changes.bound_cidrs,
        &changes.old_bound_cidrs,
    ];
    let only_blanks =
        |list: &Vec<String>| !list.is_empty() && list.iter().all(|it| it.trim().is_empty());
    if lists.into_iter().flatten().any(only_blanks) {
        return Err(TokenRoleError::OnlyBlanks);
    }
    Ok(())
}

fn ranges(
    texts: Option<&Vec<String>>,
    old_spelling: bool,
) -> Result<Option<Vec<String>>, TokenRoleError> {
    let range = |text: &String| {
        let text = text.trim();
        match is_network(text) {
            true => Ok(text.to_owned()),
            false => Err(TokenRoleError::InvalidBoundCidr(InvalidRange {
                range: text.to_owned(),
                old_spelling,
            })),
        }
    };
    texts
        .map(|texts| texts.iter().map(range).collect())
        .transpose()
}

/// Refuses what would not be one more segment of a path.
fn require_usable(suffix: &str) -> Result<(), TokenRoleError> {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let usable = (3..=MAXIMUM_SUFFIX_BYTES).contains(&suffix.len())
        && suffix.starts_with(is_word)
        && suffix.ends_with(is_word)
        && suffix
            .chars()
            .all(|it| is_word(it) || matches!(it, '-' | '.'));
    if suffix.contains("..") {
        return Err(TokenRoleError::PathSuffixWithParent);
    }
    if !suffix.is_empty() && !usable {
        return Err(TokenRoleError::InvalidPathSuffix);
    }
    Ok(())
}

/// Refuses a role none of whose tokens could be made. Where the type is a default alone, a caller can still ask for a service token.
fn require_consistent(role: &TokenRole) -> Result<(), TokenRoleError> {
    if role.token_type != MountTokenType::Batch {
        return Ok(());
    }
    if !role.orphan {
        return Err(TokenRoleError::BatchWithParent);
    }
    if role.period > 0 {
        return Err(TokenRoleError::BatchWith(ServiceField::Period));
    }
    if role.renewable {
        return Err(TokenRoleError::RenewableBatch);
    }
    if role.explicit_max_ttl > 0 {
        return Err(TokenRoleError::BatchWith(ServiceField::ExplicitMaxTtl));
    }
    if role.num_uses > 0 {
        return Err(TokenRoleError::BatchWith(ServiceField::NumUses));
    }
    Ok(())
}
