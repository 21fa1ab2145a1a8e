//! Types of resources in documents: their attributes and relationships, as the OpenAPI document describes them.

use gatehouse_orgs_api::Edition;

/// A type of resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentType {
    /// The name of its schema.
    pub(super) name: &'static str,
    /// The `type` of such resources. Requests may give another type where [`Self::is_type_checked`] is false.
    pub(super) resource_type: &'static str,
    pub(super) is_type_checked: bool,
    pub(super) about: &'static str,
    pub(super) attributes: Attributes,
    /// True if the entitlements, by their names, are attributes too.
    pub(super) has_entitlements: bool,
    pub(super) relationships: &'static [Relationship],
}

/// The attributes of a type of resource.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attributes {
    Listed(&'static [Property]),
    /// The attributes of a table that also defines how each is read and shown.
    Tabled(fn() -> Vec<&'static Property>),
}

impl DocumentType {
    /// A type of resource whose `type` member is not checked in requests.
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

    /// The same with the attributes of a table that also defines how each is read and shown.
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

    /// The same with the entitlements as further attributes.
    pub(super) const fn with_entitlements(self) -> Self {
        Self {
            has_entitlements: true,
            ..self
        }
    }

    /// The same, with the `type` member checked in requests.
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
    /// The default value in a new resource, as JSON.
    pub(super) default: Option<&'static str>,
    /// The only edition that shows it; `None` for both.
    pub(super) edition: Option<Edition>,
}

/// The documents in which a property has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UseIn {
    Both,
    /// Requests may contain it, without effect.
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
    /// Booleans under arbitrary names.
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
    /// A resource at another path, as a link without data.
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

    /// The same, only in answers.
    pub(super) const fn read_only(self) -> Self {
        Self {
            use_in: UseIn::Answers,
            ..self
        }
    }

    /// The same, only in requests.
    pub(super) const fn write_only(self) -> Self {
        Self {
            use_in: UseIn::Requests,
            ..self
        }
    }

    /// The same with this default value, as JSON, in a new resource.
    pub(super) const fn defaulting_to(self, json: &'static str) -> Self {
        Self {
            default: Some(json),
            ..self
        }
    }

    /// The same, shown only in one edition.
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
