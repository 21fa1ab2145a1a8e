//! A request's fields as the rules of policies see them.

use gatehouse_access_api::{Operation, Parameter};

use super::input::{Input, Kinds, Resource};
use crate::admission::{parameter, parameters_of_query};
use crate::http::Request;

/// The parameters of a request that does `operation`: the fields of its query, and for a write also the attributes and relationships of its document
/// under their dashed names, in whichever spelling they were sent. The value of a relationship is its `data`. A resource with neither attributes nor
/// relationships, such as a member of a team, is the parameter `id`. A document that cannot be read has no parameters; it is refused once the caller
/// is known to be allowed (contract 1.5).
pub(super) fn parameters(request: &Request, operation: Operation) -> Vec<Parameter> {
    let mut parameters: Vec<_> = parameters_of_query(&request.query).collect();
    match operation {
        Operation::Read | Operation::List | Operation::Help => {}
        // The body of a DELETE names the member that is removed from a team.
        Operation::Delete | Operation::Update | Operation::CreateOrUpdate | Operation::Patch => {
            parameters.extend(of_body(&request.body))
        }
    }
    parameters
}

fn of_body(body: &[u8]) -> Vec<Parameter> {
    let input = Input::read(body);
    let resources = input.as_ref().map(|input| input.resources(Kinds::Any));
    match resources {
        Ok(Ok(resources)) => resources.iter().flat_map(written).collect(),
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}

fn written<'r>(resource: &'r Resource<'_>) -> impl Iterator<Item = Parameter> + 'r {
    let attributes = resource.attributes.iter();
    let relationships = resource.relationships.iter();
    let mut members = attributes
        .map(|(name, value)| parameter(name, value))
        .chain(relationships.map(|(name, value)| parameter(name, &value.get("data"))))
        .peekable();
    let id = resource.id.filter(|_| members.peek().is_none());
    members.chain(id.map(|id| parameter("id", id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Method;

    fn sorted(request: &Request, operation: Operation) -> Vec<(String, String)> {
        let parameters = parameters(request, operation).into_iter();
        let mut pairs: Vec<_> = parameters
            .map(|parameter| (parameter.name, parameter.value))
            .collect();
        pairs.sort();
        pairs
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn of_body(body: &str) -> Vec<(String, String)> {
        let mut request = Request::new(Method::Patch, "/api/v2/organizations/acme");
        request.body = body.as_bytes().to_vec();
        sorted(&request, Operation::Update)
    }

    #[test]
    fn reads_have_the_fields_of_their_query() {
        let mut request = Request::new(Method::Get, "/api/v2/organizations");
        request.query = "q%5Bname%5D=a&include=b&include=c".to_owned();
        let expected = [pair("include", r#"["b","c"]"#), pair("q[name]", r#""a""#)];
        request.body = br#"{"data":{"attributes":{"d":1}}}"#.to_vec();
        assert_eq!(sorted(&request, Operation::List), expected);
    }

    #[test]
    fn writes_have_those_of_their_query_too() {
        let mut request = Request::new(Method::Post, "/api/v2/organizations/acme");
        request.query = "token=audit-trails".to_owned();
        request.body = br#"{"data":{"attributes":{"d":1}}}"#.to_vec();
        let expected = [pair("d", "1"), pair("token", r#""audit-trails""#)];
        for operation in [
            Operation::Delete,
            Operation::Update,
            Operation::CreateOrUpdate,
        ] {
            assert_eq!(sorted(&request, operation), expected, "{operation:?}");
        }
    }

    #[test]
    fn resources_that_are_only_named_are_ids() {
        for body in [
            r#"{"data":[{"type":"users","id":"ada"},{"type":"users","id":"bob"}]}"#,
            r#"{"data":[{"type":"users","id":"ada","attributes":{}},{"id":"bob"}]}"#,
        ] {
            let expected = [pair("id", r#""ada""#), pair("id", r#""bob""#)];
            assert_eq!(of_body(body), expected);
        }
        assert_eq!(
            of_body(r#"{"data":{"id":"ada"}}"#),
            [pair("id", r#""ada""#)]
        );
    }

    #[test]
    fn writes_have_the_members_of_their_document_under_one_spelling() {
        let found = of_body(
            r#"{"data":{"type":"x","id":"y","attributes":{"session_timeout":60,"userTokensEnabled":false,"email":null},
                "relationships":{"default_agent_pool":{"data":{"id":"apool-1"}}}}}"#,
        );
        let expected = [
            pair("default-agent-pool", r#"{"id":"apool-1"}"#),
            pair("email", "null"),
            pair("session-timeout", "60"),
            pair("user-tokens-enabled", "false"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn every_resource_of_a_list_counts() {
        let found = of_body(r#"{"data":[{"attributes":{"a":1}},{"attributes":{"a":2}}]}"#);
        assert_eq!(found, [pair("a", "1"), pair("a", "2")]);
    }

    #[test]
    fn what_cannot_be_read_has_none() {
        for body in ["", "{", "{}", "[]", r#"{"data":{"attributes":[]}}"#] {
            assert_eq!(of_body(body), [], "{body}");
        }
    }
}
