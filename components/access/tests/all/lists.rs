//! Lists of identities, which are as long as there are identities (contract 7.2, SEC-S14).

use gatehouse_access::{Entities as _, EntityChanges, IdentityTarget};

use crate::server::Server;

/// More than are read in one round.
const MANY: usize = 450;

#[test]
fn s14_a_page_is_read_in_rounds_and_no_further_than_it_goes() {
    let server = Server::ready();
    let mut ids = Vec::new();
    for _ in 0..MANY {
        let changes = EntityChanges::default();
        let made = server.access.write_entity(&IdentityTarget::New, &changes);
        ids.push(made.unwrap().id);
    }
    ids.sort_unstable();
    let page = |after: Option<&str>, limit| {
        let page = server.access.list_entities(after, limit).unwrap();
        let ids: Vec<String> = page.entities.into_iter().map(|it| it.id).collect();
        (ids, page.next)
    };
    assert_eq!(page(None, 10_000), (ids.clone(), None));
    assert_eq!(page(None, u32::MAX), (ids.clone(), None));
    assert_eq!(page(None, 0), (ids[..1].to_vec(), Some(ids[0].clone())));
    for limit in [199, 200, 201, 449] {
        let size = limit as usize;
        let (first, next) = page(None, limit);
        assert_eq!((&first[..], next.as_ref()), (&ids[..size], first.last()));
        let (rest, next) = page(next.as_deref(), 10_000);
        assert_eq!((&rest[..], next), (&ids[size..], None));
    }
    assert_eq!(page(None, 450), (ids.clone(), None));
    assert_eq!(page(Some("z"), 1), (Vec::new(), None));

    let mut names = Vec::new();
    let mut after = None;
    loop {
        let page = server
            .access
            .list_entity_names(after.as_deref(), 7)
            .unwrap();
        assert!(page.keys.len() <= 7);
        names.extend(page.keys);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MANY);
}
