//! Types of resources in documents: their attributes and relationships, as the OpenAPI document describes them.

use gatehouse_orgs_api::Edition;

/// A type of resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentType {
    /// The name of its schema.
    pub(super) name: &'static str,
    /// The `type` of such resources. Requests may say another where [`Self::is_type_checked`] is false.
    pub(super) resource_type: &'static str,
    pub(super) is_type_checked: bool,
    pub(super) about: &'static str,
    pub(super) attributes: Attributes,
    /// True if entitlements are attributes too, by their names.
    pub(super) has_entitlements: bool,
    pub(super) relationships: &'static [Relationship],
}

/// The attributes of a type of resource.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attributes {
    Listed(&'static [Property]),
    /// Those of a table that says more about each of them.
    Tabled(fn() -> Vec<&'static Property>),
}

impl DocumentType {
    /// A type whose name requests may leave out.
    pub(super) const fn new(
        name: &'static str,
        resource_type: &'static str,
        about: &'static str,
        attributes: &'static [Property],
    ) -> Self {
        Self {
            name,
            resource_type,
            is_type_checked: false,
            about,
            attributes: Attributes::Listed(attributes),
            has_entitlements: false,
            relationships: &[],
        }
    }

    /// The same with the attributes of a table that says more about each of them.
    pub(super) const fn tabled(
        name: &'static str,
        resource_type: &'static str,
        about: &'static str,
        attributes: fn() -> Vec<&'static Property>,
    ) -> Self {
        Self {
            attributes: Attributes::Tabled(attributes),
            ..Self::new(name, resource_type, about, &[])
        }
    }

    /// The same with these relationships.
    pub(super) const fn relating(self, relationships: &'static [Relationship]) -> Self {
        Self {
            relationships,
            ..self
        }
    }

    /// The same, of which entitlements are attributes too.
    pub(super) const fn with_entitlements(self) -> Self {
        Self {
            has_entitlements: true,
            ..self
        }
    }

    /// The same, whose name requests must say.
    pub(super) const fn type_checked(self) -> Self {
        Self {
            is_type_checked: true,
            ..self
        }
    }

    /// Its attributes in their order.
    pub(super) fn properties(&self) -> Vec<&'static Property> {
        match self.attributes {
            Attributes::Listed(properties) => properties.iter().collect(),
            Attributes::Tabled(properties) => properties(),
        }
    }
}

/// An attribute, or a member of one that is an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
    pub(super) is_nullable: bool,
    pub(super) use_in: UseIn,
    /// The value of a new resource, as JSON.
    pub(super) default: Option<&'static str>,
    /// The one edition that shows it; `None` for both.
    pub(super) edition: Option<Edition>,
}

/// The documents in which a property has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UseIn {
    Both,
    /// Requests that say it are served as if they did not.
    Answers,
    Requests,
}

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    Boolean,
    Integer,
    /// RFC 3339.
    Timestamp,
    Texts,
    /// Booleans by names that are not fixed.
    Flags,
    Objects(&'static [Property]),
}

/// A relationship of a resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relationship {
    pub(super) name: &'static str,
    pub(super) target: Target,
    pub(super) is_writable: bool,
}

/// The other end of a relationship.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// A resource of this type, or null.
    One(&'static str),
    Many(&'static str),
    /// A resource of another path, without data.
    Link,
}

const fn property(name: &'static str, kind: Kind, about: &'static str) -> Property {
    Property {
        name,
        kind,
        about,
        is_nullable: false,
        use_in: UseIn::Both,
        default: None,
        edition: None,
    }
}

macro_rules! properties_of_kinds {
    ($($(#[$documentation:meta])* $name:ident => $kind:ident;)*) => {$(
        $(#[$documentation])*
        pub(super) const fn $name(name: &'static str, about: &'static str) -> Property {
            property(name, Kind::$kind, about)
        }
    )*};
}

properties_of_kinds! {
    /// A text.
    text => Text;
    /// True or false.
    boolean => Boolean;
    /// A number without fraction.
    integer => Integer;
    /// A point in time.
    time => Timestamp;
    /// A list of texts.
    texts => Texts;
    /// Booleans by name.
    flags => Flags;
}

/// One of some words.
pub(super) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Property {
    property(name, Kind::Choice(words), about)
}

/// A list of objects with these members.
pub(super) const fn objects(
    name: &'static str,
    members: &'static [Property],
    about: &'static str,
) -> Property {
    property(name, Kind::Objects(members), about)
}

impl Property {
    /// The same, which may be null.
    pub(super) const fn nullable(self) -> Self {
        Self {
            is_nullable: true,
            ..self
        }
    }

    /// The same in answers alone.
    pub(super) const fn read_only(self) -> Self {
        Self {
            use_in: UseIn::Answers,
            ..self
        }
    }

    /// The same in requests alone.
    pub(super) const fn write_only(self) -> Self {
        Self {
            use_in: UseIn::Requests,
            ..self
        }
    }

    /// The same with this value, as JSON, in a new resource.
    pub(super) const fn defaulting_to(self, json: &'static str) -> Self {
        Self {
            default: Some(json),
            ..self
        }
    }

    /// The same, shown in one edition alone.
    pub(super) const fn only_in(self, edition: Edition) -> Self {
        Self {
            edition: Some(edition),
            ..self
        }
    }
}

/// A relationship that requests cannot change.
pub(super) const fn related(name: &'static str, target: Target) -> Relationship {
    Relationship {
        name,
        target,
        is_writable: false,
    }
}

impl Relationship {
    /// The same, which requests can change.
    pub(super) const fn writable(self) -> Self {
        Self {
            is_writable: true,
            ..self
        }
    }
}
