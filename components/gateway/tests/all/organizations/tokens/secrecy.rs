//! No record of an exchange shows the text of a token (SEC-L2).

use super::*;
use crate::recorder::Record;

#[test]
fn l2_a_token_is_readable_neither_where_it_is_told_nor_where_it_is_presented() {
    let world = self_hosted();
    let ada = world.user("ada", false);
    world.create_named("acme");
    let own = secret(&world.issue(ACME_TOKEN, &json!({"description": "of ci"})));
    for token in [&ada, &own] {
        world.status(token, Method::Get, ACME_TOKEN);
        // A caller may mistake the token for an identifier.
        let mistaken = format!("/api/v2/authentication-tokens/{token}");
        assert_not_found(&world.get(&mistaken));
        assert_not_found(&world.get(&format!("{mistaken}/")));
    }
    let records = world.server.audit.take();
    let readable: Vec<String> = records
        .iter()
        .flat_map(Record::readable)
        .map(|(_, text)| text)
        .collect();
    assert!(
        readable
            .iter()
            .any(|text| text.contains("authentication-tokens/<secret>"))
    );
    for text in &readable {
        for token in [&ada, &own] {
            assert!(!text.contains(&token[..14]), "{text}");
            assert!(!text.contains(&token[23..]), "{text}");
        }
    }
}
