//! The agent pools that the runs of an organization use by default.

use serde_json::{Map, Value, json};

use super::organization::Organization;
use crate::api::{ApiError, at, encoded};
use crate::pages::Visit;
use crate::pages::resources::entries;

/// The relationships of an organization with these pools. The fields of the form have the same names.
const RELATIONSHIPS: [&str; 2] = ["default-agent-pool", "stacks-default-agent-pool"];

/// The pools as the form shows them, by the names of its fields: the name of a pool, or an empty text where none is set.
pub(super) fn shown(visit: &Visit<'_>, organization: &Organization) -> Map<String, Value> {
    let name_of = |id: &str| {
        let path = format!("/api/v2/agent-pools/{}", encoded(id));
        let pool = visit.api.read(&path).ok()?;
        Some(at(&pool, "/data/attributes/name"))
    };
    let field = |relationship: &str| {
        let place = format!("/data/relationships/{relationship}/data");
        let pool = organization.shown.pointer(&place)?;
        let text = match at(pool, "/id").as_str() {
            "" => String::new(),
            // A pool that the visitor cannot read is shown by its identifier.
            id => name_of(id).unwrap_or_else(|| id.to_owned()),
        };
        Some((relationship.to_owned(), text.into()))
    };
    RELATIONSHIPS.into_iter().filter_map(field).collect()
}

/// Removes the pools from the changes that a form makes, and returns them as the API takes them.
pub(super) fn taken(
    visit: &Visit<'_>,
    organization: &Organization,
    changes: &mut Map<String, Value>,
) -> Result<Map<String, Value>, ApiError> {
    let mut relationships = Map::new();
    for relationship in RELATIONSHIPS {
        let Some(typed) = changes.remove(relationship) else {
            continue;
        };
        let pool = match typed.as_str().unwrap_or_default() {
            "" => Value::Null,
            typed => json!({ "type": "agent-pools", "id": id_of(visit, organization, typed)? }),
        };
        relationships.insert(relationship.to_owned(), json!({ "data": pool }));
    }
    Ok(relationships)
}

/// The identifier of the pool whose name was typed; names are unique regardless of case. The typed text itself where no pool has that name, or the
/// visitor may not see it.
fn id_of(visit: &Visit<'_>, organization: &Organization, typed: &str) -> Result<String, ApiError> {
    let path = format!(
        "{}/agent-pools?q={}&page%5Bsize%5D=100",
        organization.path,
        encoded(typed)
    );
    let found = match visit.api.read(&path) {
        Err(error) if error.status == 404 => return Ok(typed.to_owned()),
        found => found?,
    };
    let is_named = |pool: &&Value| at(pool, "/attributes/name").eq_ignore_ascii_case(typed);
    match entries(&found).find(is_named) {
        Some(pool) => Ok(at(pool, "/id")),
        None if at(&found, "/meta/pagination/next-page").is_empty() => Ok(typed.to_owned()),
        None => Err(ApiError::new(
            422,
            "more than 100 pools have this in their names: type the identifier of the pool",
        )),
    }
}
