//! The document of a request, for resources of every type (contract 1.10, section 7).
//!
//! [`Input`] is the document, [`Resource`] the content of its `data`, and [`Members`] the attributes or relationships of a resource under their
//! dashed names. Each value is read as a [`gatehouse_orgs_api::Attribute`], which distinguishes an absent value, null, a wrong type, and a valid
//! value. A wrong type is not a fault here: the capability reports it together with all other faults.

mod members;

use serde_json::Value;

pub(super) use self::members::{Members, dashed};

use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use gatehouse_json as json;

/// The maximum depth of nested arrays and objects (contract section 7).
const MAXIMUM_DEPTH: usize = 64;

/// A request's document. If a member is given twice, the last value counts.
#[derive(Debug)]
pub(super) struct Input {
    /// Null where the document has none.
    data: Value,
}

/// The resource types that a document may be of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kinds<'k> {
    /// The type is not checked: clients leave it empty, or give another type than the reference (contract 1.10). Such a document may also lack
    /// `data`.
    Any,
    /// One of these types.
    Only(&'k [&'k str]),
}

/// One resource in a document.
#[derive(Debug, Default)]
pub(super) struct Resource<'a> {
    /// The type of the resource, if it has one.
    pub(super) kind: Option<&'a str>,
    /// The id of the resource, if it has one. It is ignored where the path names the resource.
    pub(super) id: Option<&'a str>,
    /// The attributes; empty where the member is absent or null.
    pub(super) attributes: Members<'a>,
    /// The relationships; empty where the member is absent or null.
    pub(super) relationships: Members<'a>,
}

impl Input {
    /// Reads a body that is required.
    ///
    /// # Errors
    ///
    /// [`ApiError::InvalidJson`], and [`ApiError::Unprocessable`] for JSON that is not a document.
    pub(super) fn read(body: &[u8]) -> Result<Self, ApiError> {
        let text = json::check_to_depth(body, MAXIMUM_DEPTH)
            .map_err(|error| ApiError::InvalidJson(error.to_string()))?;
        let json::Plain(document) =
            serde_json::from_str(text).map_err(|error| ApiError::InvalidJson(error.to_string()))?;
        match document {
            Value::Object(mut members) => Ok(Self {
                data: members.remove("data").unwrap_or_default(),
            }),
            Value::Null => Ok(Self { data: Value::Null }),
            _ => Err(ApiError::Unprocessable(vec![no_object("/data")])),
        }
    }

    /// Reads an optional body. Without one, the document is empty (contract 1.4, token endpoints).
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub(super) fn read_if_any(body: &[u8]) -> Result<Self, ApiError> {
        if body.is_empty() {
            Ok(Self { data: Value::Null })
        } else {
            Self::read(body)
        }
    }

    /// True if the `data` of the document is a list.
    pub(super) fn is_list(&self) -> bool {
        self.data.is_array()
    }

    /// The only resource of the document.
    ///
    /// # Errors
    ///
    /// [`ApiError::Unprocessable`] with all faults of the shape and the type.
    pub(super) fn resource(&self, kinds: Kinds<'_>) -> Result<Resource<'_>, ApiError> {
        let mut faults = Vec::new();
        let resource = match (&self.data, kinds) {
            (Value::Null, Kinds::Any) => Resource::default(),
            (data, _) => Resource::read(data, "/data", kinds, &mut faults),
        };
        unless_faulty(resource, faults)
    }

    /// The resources of a document whose `data` is a list, in their order. A single resource counts as a list of one.
    ///
    /// # Errors
    ///
    /// [`ApiError::Unprocessable`] with all faults of the shape and the types.
    pub(super) fn resources(&self, kinds: Kinds<'_>) -> Result<Vec<Resource<'_>>, ApiError> {
        let mut faults = Vec::new();
        let resources = match &self.data {
            Value::Array(list) => list
                .iter()
                .enumerate()
                .map(|(place, data)| {
                    Resource::read(data, &format!("/data/{place}"), kinds, &mut faults)
                })
                .collect(),
            data @ Value::Object(_) => {
                vec![Resource::read(data, "/data", kinds, &mut faults)]
            }
            _ => {
                faults.push(must_be("/data", "Data", "a list of objects"));
                Vec::new()
            }
        };
        unless_faulty(resources, faults)
    }
}

impl<'a> Resource<'a> {
    fn read(
        data: &'a Value,
        place: &str,
        kinds: Kinds<'_>,
        faults: &mut Vec<AttributeError>,
    ) -> Self {
        let Value::Object(data) = data else {
            faults.push(no_object(place));
            return Self::default();
        };
        let text = |member| data.get(member).and_then(Value::as_str);
        let kind = text("type");
        if let Kinds::Only(known) = kinds
            && !kind.is_some_and(|kind| known.contains(&kind))
        {
            faults.push(must_be(
                &format!("{place}/type"),
                "Type",
                &known.join(" or "),
            ));
        }
        let mut members = |member, label| {
            Members::from_object(data.get(member)).unwrap_or_else(|| {
                faults.push(must_be(&format!("{place}/{member}"), label, "an object"));
                Members::default()
            })
        };
        Self {
            kind,
            id: text("id"),
            attributes: members("attributes", "Attributes"),
            relationships: members("relationships", "Relationships"),
        }
    }
}

/// The fault of a value that is not an object where a resource is required.
fn no_object(place: &str) -> AttributeError {
    must_be(place, "Data", "an object")
}

fn must_be(pointer: &str, label: &str, what: &str) -> AttributeError {
    AttributeError {
        pointer: pointer.to_owned(),
        detail: format!("{label} must be {what}"),
    }
}

fn unless_faulty<T>(read: T, faults: Vec<AttributeError>) -> Result<T, ApiError> {
    if faults.is_empty() {
        Ok(read)
    } else {
        Err(ApiError::Unprocessable(faults))
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_orgs_api::Attribute;
    use serde_json::json;

    use super::*;

    const TEAMS: Kinds<'_> = Kinds::Only(&["teams"]);

    fn input(document: &Value) -> Input {
        Input::read(document.to_string().as_bytes()).unwrap()
    }

    /// The pointers and details of a refusal.
    fn faults<T: std::fmt::Debug>(read: Result<T, ApiError>) -> Vec<(String, String)> {
        let Err(ApiError::Unprocessable(faults)) = read else {
            panic!("{read:?}");
        };
        let faults = faults.into_iter();
        faults.map(|fault| (fault.pointer, fault.detail)).collect()
    }

    fn fault(pointer: &str, detail: &str) -> (String, String) {
        (pointer.to_owned(), detail.to_owned())
    }

    #[test]
    fn h11_no_name_makes_a_text_be_parsed_past_the_limits() {
        const RAW_VALUE: &str = "$serde_json::private::RawValue";
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let long = format!("[{}]", vec!["1"; 20_000].join(","));
        let document = json!({"data": {"type": "teams", "attributes": {"name": "evil"}}});
        for inner in [deep, long, document.to_string(), "no JSON".to_owned()] {
            let object = || json!({RAW_VALUE: inner});
            // The object replaces the document, its data and an attribute in turn. It is always read as an object with an unknown member.
            assert_eq!(input(&object()).data, Value::Null);
            let as_data = input(&json!({"data": object()}));
            let resource = as_data.resource(Kinds::Any).unwrap();
            assert_eq!(resource.kind, None);
            assert_eq!(resource.attributes.text("name"), Attribute::Absent);
            let attributes = json!({"name": object(), "list": [object()]});
            let nested = input(&json!({"data": {"type": "teams", "attributes": attributes}}));
            let attributes = nested.resource(TEAMS).unwrap().attributes;
            assert_eq!(attributes.get("name"), Some(&object()));
            assert_eq!(attributes.get("list"), Some(&json!([object()])));
        }
    }

    #[test]
    fn h11_of_repeated_members_the_last_counts() {
        let input = Input::read(br#"{"data":1,"data":{"id":"a","\u0069d":"b"}}"#).unwrap();
        assert_eq!(input.resource(Kinds::Any).unwrap().id, Some("b"));
    }

    #[test]
    fn contract_1_10_a_resource_of_its_type_with_its_members() {
        let input = input(&json!({"data": {
            "type": "teams", "id": "team-1", "attributes": {"name": "a"}, "relationships": {"users": {"data": []}},
        }}));
        let team = input.resource(TEAMS).unwrap();
        assert_eq!((team.kind, team.id), (Some("teams"), Some("team-1")));
        assert_eq!(
            team.attributes.text("name"),
            Attribute::Value("a".to_owned())
        );
        assert_eq!(
            team.relationships.to_many("users"),
            Attribute::Value(Vec::new())
        );
    }

    #[test]
    fn contract_1_8_what_is_wrong_with_a_document_comes_together() {
        let data = |data: Value| faults(input(&json!({"data": data})).resource(TEAMS));
        let no_data = [fault("/data", "Data must be an object")];
        for odd in [json!(null), json!([]), json!("teams"), json!(1)] {
            assert_eq!(data(odd.clone()), no_data, "{odd}");
        }
        assert_eq!(faults(input(&json!({})).resource(TEAMS)), no_data);
        for odd in [json!([]), json!(1), json!("data")] {
            assert_eq!(faults(Input::read(odd.to_string().as_bytes())), no_data);
        }
        assert_eq!(
            data(json!({"type": "users", "attributes": [], "relationships": 5})),
            [
                fault("/data/type", "Type must be teams"),
                fault("/data/attributes", "Attributes must be an object"),
                fault("/data/relationships", "Relationships must be an object"),
            ]
        );
    }

    #[test]
    fn contract_4_5_a_document_may_have_one_of_several_types() {
        let kinds = Kinds::Only(&["keeps", "deletes"]);
        let of = |kind: Value| input(&json!({"data": {"type": kind}}));
        assert_eq!(
            of(json!("deletes")).resource(kinds).unwrap().kind,
            Some("deletes")
        );
        for odd in [
            json!("teams"),
            json!(""),
            json!(null),
            json!(7),
            json!(["keeps"]),
        ] {
            let refused = faults(of(odd.clone()).resource(kinds));
            assert_eq!(
                refused,
                [fault("/data/type", "Type must be keeps or deletes")],
                "{odd}"
            );
        }
    }

    #[test]
    fn contract_1_10_where_the_type_does_not_matter_neither_does_the_document() {
        for text in [
            "",
            "{}",
            "null",
            r#"{"data":null}"#,
            r#"{"data":{}}"#,
            r#"{"data":{"type":""}}"#,
        ] {
            let input = Input::read_if_any(text.as_bytes()).unwrap();
            let resource = input.resource(Kinds::Any).unwrap();
            assert_eq!(
                resource.attributes.text("description"),
                Attribute::Absent,
                "{text}"
            );
        }
        let other = input(&json!({"data": {"type": "subscription", "attributes": {"x": 1}}}));
        let other = other.resource(Kinds::Any).unwrap();
        assert_eq!(other.attributes.integer("x"), Attribute::Value(1));
        let listed = input(&json!({"data": []}));
        assert_eq!(
            faults(listed.resource(Kinds::Any)),
            [fault("/data", "Data must be an object")]
        );
        assert!(matches!(
            Input::read_if_any(b" "),
            Err(ApiError::InvalidJson(_))
        ));
        assert!(matches!(Input::read(b""), Err(ApiError::InvalidJson(_))));
    }

    #[test]
    fn contract_4_4_and_4_8_data_may_be_a_list() {
        let ids = |data: Value| -> Vec<String> {
            let input = input(&json!({"data": data}));
            let resources = input.resources(TEAMS).unwrap();
            let ids = resources.iter().filter_map(|resource| resource.id);
            ids.map(str::to_owned).collect()
        };
        let of = |id: &str| json!({"type": "teams", "id": id});
        assert_eq!(ids(json!([of("b"), of("a")])), ["b", "a"]);
        assert_eq!(ids(json!([])), [""; 0]);
        assert_eq!(ids(of("a")), ["a"]);
        let odd = input(&json!({"data": [of("a"), 1, {"type": "users", "attributes": 1}]}));
        assert_eq!(
            faults(odd.resources(TEAMS)),
            [
                fault("/data/1", "Data must be an object"),
                fault("/data/2/type", "Type must be teams"),
                fault("/data/2/attributes", "Attributes must be an object"),
            ]
        );
        for odd in [json!({}), json!({"data": null}), json!({"data": 1})] {
            let refused = faults(input(&odd).resources(Kinds::Any));
            assert_eq!(refused, [fault("/data", "Data must be a list of objects")]);
        }
    }
}
