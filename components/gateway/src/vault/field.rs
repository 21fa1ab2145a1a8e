//! The fields that a caller sends by name, in the path, in the query or in the body.

/// A value that a caller sends by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
    pub(crate) required: bool,
    /// True if another field is the newer name of this one.
    pub(crate) deprecated: bool,
    /// True if it may be `null` in an answer.
    pub(crate) nullable: bool,
    /// True if its value in a path may contain slashes.
    pub(crate) spans_segments: bool,
}

/// The type of a field (contract 1.4).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Text,
    /// One of some words.
    Choice(&'static [&'static str]),
    Boolean,
    Integer,
    /// Whole seconds, or a text such as `24h`.
    Seconds,
    /// Texts, or one text with commas.
    List,
    /// Texts by name.
    Map,
    Object(&'static [Field]),
    /// The name of a role, which can only be in a path (contract 3.1, 5.4).
    RoleName,
}

const fn field(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field {
        name,
        kind,
        about,
        required: false,
        deprecated: false,
        nullable: false,
        spans_segments: false,
    }
}

macro_rules! fields_of_kinds {
    ($($(#[$documentation:meta])* $name:ident => $kind:ident;)*) => {$(
        $(#[$documentation])*
        pub(crate) const fn $name(name: &'static str, about: &'static str) -> Field {
            field(name, Kind::$kind, about)
        }
    )*};
}

fields_of_kinds! {
    /// A text.
    text => Text;
    /// A truth value.
    boolean => Boolean;
    /// An integer.
    integer => Integer;
    /// Whole seconds.
    seconds => Seconds;
    /// Texts.
    texts => List;
    /// Texts by name.
    map => Map;
    /// The name of a role.
    role_name => RoleName;
}

/// A part of a path that may contain slashes.
pub(crate) const fn path(name: &'static str, about: &'static str) -> Field {
    text(name, about).spanning()
}

/// One of some words.
pub(crate) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Field {
    field(name, Kind::Choice(words), about)
}

/// An object with fields of its own.
pub(crate) const fn object(
    name: &'static str,
    fields: &'static [Field],
    about: &'static str,
) -> Field {
    field(name, Kind::Object(fields), about)
}

impl Field {
    /// The same, but required.
    pub(crate) const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    /// The same, as the old name of another field.
    pub(crate) const fn deprecated(self) -> Self {
        Self {
            deprecated: true,
            ..self
        }
    }

    /// The same, which may contain slashes in a path.
    pub(crate) const fn spanning(self) -> Self {
        Self {
            spans_segments: true,
            ..self
        }
    }

    /// The same, which may be `null`.
    pub(crate) const fn nullable(self) -> Self {
        Self {
            nullable: true,
            ..self
        }
    }
}

/// The query fields of a list.
pub(crate) const PAGING: &[Field] = &[AFTER, LIMIT];
pub(crate) const AFTER: Field = text("after", "The key after which the list continues.");
pub(crate) const LIMIT: Field = integer("limit", "Most keys to be listed.");
