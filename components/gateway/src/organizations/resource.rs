//! Resources as documents show them. They are written straight into the answer: a list shows hundreds of them.

use crate::json_writer::{NULL, ObjectWriter, WriteJson, WriteMembers, write_object};

/// A resource with its attributes `A` and its relationships `R`.
pub(super) struct ShownResource<'a, A, R> {
    kind: &'static str,
    id: &'a str,
    attributes: A,
    relationships: R,
}

impl<'a, A, R> ShownResource<'a, A, R> {
    /// The resource `id` of the collection `kind`, which is its type too.
    pub(super) const fn new(
        kind: &'static str,
        id: &'a str,
        attributes: A,
        relationships: R,
    ) -> Self {
        Self {
            kind,
            id,
            attributes,
            relationships,
        }
    }
}

impl<A: WriteMembers, R: WriteMembers> WriteJson for ShownResource<'_, A, R> {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_object(out, |resource| {
            resource.member("id", self.id);
            resource.member("type", self.kind);
            resource.object("attributes", |object| self.attributes.write_members(object));
            resource.object("relationships", |object| {
                self.relationships.write_members(object);
            });
            resource.object("links", |links| {
                ResourcePath::new(self.kind, self.id).write(links, "self");
            });
        });
    }
}

/// The path of a resource, or of something below it.
#[derive(Clone, Copy)]
pub(super) struct ResourcePath<'a> {
    collection: &'static str,
    id: &'a str,
    below: &'static str,
}

impl<'a> ResourcePath<'a> {
    /// The path of the resource `id` of `collection`.
    pub(super) const fn new(collection: &'static str, id: &'a str) -> Self {
        Self {
            collection,
            id,
            below: "",
        }
    }

    /// The path with `below` appended, which begins with a slash.
    pub(super) const fn below(self, below: &'static str) -> Self {
        Self { below, ..self }
    }

    /// Adds the path as a member of `links`.
    fn write(self, links: &mut ObjectWriter<'_>, name: &str) {
        let parts = ["/api/v2/", self.collection, "/", self.id, self.below];
        links.text_of(name, &parts);
    }
}

/// A relationship of a resource: the related resources, the path to read them at, or both.
pub(super) struct ShownRelationship<'a> {
    data: Option<Related<'a>>,
    related: Option<ResourcePath<'a>>,
}

impl<'a> ShownRelationship<'a> {
    /// To one resource, of type `kind`.
    pub(super) const fn one(kind: &'static str, id: &'a str) -> Self {
        Self::to(Related::One { id, kind })
    }

    /// To one resource, which does not exist.
    pub(super) const fn none() -> Self {
        Self::to(Related::None)
    }

    /// To many resources, none of which exists.
    pub(super) const fn empty() -> Self {
        Self::to(Related::Empty)
    }

    /// To resources that are only linked.
    pub(super) const fn linked(related: ResourcePath<'a>) -> Self {
        Self {
            data: None,
            related: Some(related),
        }
    }

    /// The relationship with a link in addition.
    pub(super) fn at(self, related: ResourcePath<'a>) -> Self {
        Self {
            related: Some(related),
            ..self
        }
    }

    const fn to(related: Related<'a>) -> Self {
        Self {
            data: Some(related),
            related: None,
        }
    }

    /// Adds the relationship to those of a resource.
    pub(super) fn write(&self, relationships: &mut ObjectWriter<'_>, name: &str) {
        relationships.object(name, |relationship| {
            if let Some(data) = &self.data {
                relationship.member("data", data);
            }
            if let Some(related) = self.related {
                relationship.object("links", |links| related.write(links, "related"));
            }
        });
    }
}

enum Related<'a> {
    None,
    One { id: &'a str, kind: &'static str },
    Empty,
}

impl WriteJson for Related<'_> {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => out.extend_from_slice(NULL),
            Self::Empty => out.extend_from_slice(b"[]"),
            Self::One { id, kind } => write_object(out, |identifier| {
                identifier.member("id", id);
                identifier.member("type", kind);
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    struct Attributes;

    impl WriteMembers for Attributes {
        fn write_members(&self, object: &mut ObjectWriter<'_>) {
            object.member("name", "pool");
        }
    }

    struct Relationships<'a>(Vec<(&'static str, ShownRelationship<'a>)>);

    impl WriteMembers for Relationships<'_> {
        fn write_members(&self, object: &mut ObjectWriter<'_>) {
            for (name, relationship) in &self.0 {
                relationship.write(object, name);
            }
        }
    }

    #[test]
    fn a_resource_is_a_json_api_object_with_a_link_to_itself() {
        let path = ResourcePath::new("agent-pools", "apool-1");
        let relationships = Relationships(vec![
            (
                "owner",
                ShownRelationship::one("users", "user-1").at(path.below("/owner")),
            ),
            ("maker", ShownRelationship::one("users", "user-1")),
            ("none", ShownRelationship::none()),
            ("empty", ShownRelationship::empty()),
            ("agents", ShownRelationship::linked(path.below("/agents"))),
        ]);
        let shown = ShownResource::new("agent-pools", "apool-1", Attributes, relationships);
        let expected = json!({
            "id": "apool-1",
            "type": "agent-pools",
            "attributes": {"name": "pool"},
            "relationships": {
                "owner": {
                    "data": {"id": "user-1", "type": "users"},
                    "links": {"related": "/api/v2/agent-pools/apool-1/owner"},
                },
                "maker": {"data": {"id": "user-1", "type": "users"}},
                "none": {"data": null},
                "empty": {"data": []},
                "agents": {"links": {"related": "/api/v2/agent-pools/apool-1/agents"}},
            },
            "links": {"self": "/api/v2/agent-pools/apool-1"},
        });
        let mut written = Vec::new();
        shown.write_json(&mut written);
        let written: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(written, expected);
    }
}
