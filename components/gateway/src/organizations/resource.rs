//! Resources as documents show them. They are written straight into the answer, without a tree of JSON values before: a list shows hundreds of
//! them.

use serde::{Serialize, Serializer};

/// A resource with its attributes `A` and its relationships `R`.
#[derive(Serialize)]
pub(super) struct ShownResource<'a, A, R> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    attributes: A,
    relationships: R,
    links: SelfLink<'a>,
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
            id,
            kind,
            attributes,
            relationships,
            links: SelfLink {
                path: ResourcePath::new(kind, id),
            },
        }
    }
}

#[derive(Serialize)]
struct SelfLink<'a> {
    #[serde(rename = "self")]
    path: ResourcePath<'a>,
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
}

impl Serialize for ResourcePath<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            collection,
            id,
            below,
        } = self;
        serializer.collect_str(&format_args!("/api/v2/{collection}/{id}{below}"))
    }
}

/// A relationship of a resource: the related resources, the path to read them at, or both.
#[derive(Serialize)]
pub(super) struct ShownRelationship<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Related<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<RelatedLink<'a>>,
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
        Self::to(Related::Empty([]))
    }

    /// To resources that are only linked.
    pub(super) const fn linked(related: ResourcePath<'a>) -> Self {
        Self {
            data: None,
            links: Some(RelatedLink { related }),
        }
    }

    /// The relationship with a link in addition.
    pub(super) fn at(self, related: ResourcePath<'a>) -> Self {
        Self {
            links: Some(RelatedLink { related }),
            ..self
        }
    }

    const fn to(related: Related<'a>) -> Self {
        Self {
            data: Some(related),
            links: None,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Related<'a> {
    None,
    One {
        id: &'a str,
        #[serde(rename = "type")]
        kind: &'static str,
    },
    Empty([(); 0]),
}

#[derive(Serialize)]
struct RelatedLink<'a> {
    related: ResourcePath<'a>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resource_is_a_json_api_object_with_a_link_to_itself() {
        let path = ResourcePath::new("agent-pools", "apool-1");
        let relationships = [
            ShownRelationship::one("users", "user-1").at(path.below("/owner")),
            ShownRelationship::one("users", "user-1"),
            ShownRelationship::none(),
            ShownRelationship::empty(),
            ShownRelationship::linked(path.below("/agents")),
        ];
        let shown = ShownResource::new("agent-pools", "apool-1", "attributes", relationships);
        let expected = json!({
            "id": "apool-1",
            "type": "agent-pools",
            "attributes": "attributes",
            "relationships": [
                {
                    "data": {"id": "user-1", "type": "users"},
                    "links": {"related": "/api/v2/agent-pools/apool-1/owner"},
                },
                {"data": {"id": "user-1", "type": "users"}},
                {"data": null},
                {"data": []},
                {"links": {"related": "/api/v2/agent-pools/apool-1/agents"}},
            ],
            "links": {"self": "/api/v2/agent-pools/apool-1"},
        });
        assert_eq!(serde_json::to_value(shown).unwrap(), expected);
    }
}
