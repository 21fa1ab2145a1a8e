//! Templates in the paths of rules: `{{identity.entity.id}}` and its like, filled for each caller (contract 5.6, SEC-A5).

/// Stands before a `+` that came from a value and so is not a wildcard. No policy text and no path of a request has it.
pub(super) const LITERAL: char = '\0';

/// A value of the caller's identity that a path may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder<'p> {
    EntityId,
    EntityName,
    /// By key.
    EntityMetadata(&'p str),
    /// Of the entity's alias at the mount with this accessor.
    Alias {
        accessor: &'p str,
        field: AliasField<'p>,
    },
    /// Of a group that the entity is in.
    Group {
        group: GroupSelector<'p>,
        field: GroupField<'p>,
    },
}

/// A field of an alias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AliasField<'p> {
    Id,
    Name,
    /// The metadata of the last login, by key.
    Metadata(&'p str),
    /// The metadata of an operator, by key.
    CustomMetadata(&'p str),
}

/// The group that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupSelector<'p> {
    Id(&'p str),
    Name(&'p str),
}

/// A field of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupField<'p> {
    Id,
    Name,
    /// By key.
    Metadata(&'p str),
}

/// The identity that asks, as templates see it.
pub(crate) trait Identity {
    /// The value in `placeholder`'s place; `None` where the caller has none.
    fn value(&self, placeholder: Placeholder<'_>) -> Option<&str>;
}

impl<'p> Placeholder<'p> {
    /// The text between the braces; `None` when it is not a value of an identity.
    pub(super) fn parse(text: &'p str) -> Option<Self> {
        let text = text.trim().strip_prefix("identity.")?;
        if let Some(field) = text.strip_prefix("entity.") {
            return match field.split_once('.') {
                None if field == "id" => Some(Self::EntityId),
                None if field == "name" => Some(Self::EntityName),
                Some(("metadata", key)) => Some(Self::EntityMetadata(key)),
                Some(("aliases", alias)) => {
                    let (accessor, field) = alias.split_once('.')?;
                    let field = AliasField::parse(field)?;
                    Some(Self::Alias { accessor, field })
                }
                _ => None,
            };
        }
        let (kind, group) = text.strip_prefix("groups.")?.split_once('.')?;
        let (group, field) = group.split_once('.')?;
        let group = match kind {
            "ids" => GroupSelector::Id(group),
            "names" => GroupSelector::Name(group),
            _ => return None,
        };
        let field = match field.split_once('.') {
            None if field == "id" => GroupField::Id,
            None if field == "name" => GroupField::Name,
            Some(("metadata", key)) => GroupField::Metadata(key),
            _ => return None,
        };
        Some(Self::Group { group, field })
    }
}

impl<'p> AliasField<'p> {
    fn parse(field: &'p str) -> Option<Self> {
        match field.split_once('.') {
            None if field == "id" => Some(Self::Id),
            None if field == "name" => Some(Self::Name),
            Some(("metadata", key)) => Some(Self::Metadata(key)),
            Some(("custom_metadata", key)) => Some(Self::CustomMetadata(key)),
            _ => None,
        }
    }
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'p> {
    Plain(&'p str),
    Filled(Placeholder<'p>),
}

/// The parts of `pattern` in their order. An `Err` is a part that is malformed, and the last one.
fn parts(pattern: &str) -> impl Iterator<Item = Result<Part<'_>, ()>> {
    let mut rest = Some(pattern);
    let mut pending: Option<&str> = None;
    std::iter::from_fn(move || {
        if let Some(name) = pending.take() {
            return Some(Placeholder::parse(name).map(Part::Filled).ok_or(()));
        }
        let current = rest.take()?;
        let Some((before, after)) = current.split_once("{{") else {
            let balanced = !current.contains("}}");
            return Some(balanced.then_some(Part::Plain(current)).ok_or(()));
        };
        let Some((name, after)) = after.split_once("}}") else {
            return Some(Err(()));
        };
        if before.contains("}}") {
            return Some(Err(()));
        }
        pending = Some(name);
        rest = Some(after);
        Some(Ok(Part::Plain(before)))
    })
}

/// True if the pattern holds templates; `None` when one is malformed or unknown. Such a rule would never meet a request, which
/// an operator who denies something by it would not notice.
pub(super) fn has_templates(pattern: &str) -> Option<bool> {
    let mut any = false;
    for part in parts(pattern) {
        any |= matches!(part.ok()?, Part::Filled(_));
    }
    Some(any)
}

/// The accessors of mounts whose aliases `pattern` names beyond their identifiers.
pub(super) fn alias_accessors(pattern: &str) -> impl Iterator<Item = &str> {
    parts(pattern).filter_map(|part| match part {
        Ok(Part::Filled(Placeholder::Alias { accessor, field })) if field != AliasField::Id => {
            Some(accessor)
        }
        _ => None,
    })
}

/// The pattern for this caller; `None` when a value is missing or empty. With `literally` every character of a value stands for
/// itself; otherwise a value that could make the pattern match more than one segment's worth is as a missing one (SEC-A5).
pub(super) fn fill(pattern: &str, identity: &dyn Identity, literally: bool) -> Option<String> {
    let mut filled = String::with_capacity(pattern.len());
    for part in parts(pattern) {
        match part.ok()? {
            Part::Plain(text) => filled.push_str(text),
            Part::Filled(placeholder) => {
                let value = identity.value(placeholder)?;
                if value.is_empty() || !literally && value.contains(['/', '*', '+', LITERAL]) {
                    return None;
                }
                for character in value.chars().filter(|it| *it != LITERAL) {
                    if character == '+' {
                        filled.push(LITERAL);
                    }
                    filled.push(character);
                }
            }
        }
    }
    Some(filled)
}
