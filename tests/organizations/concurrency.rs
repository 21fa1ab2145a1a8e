//! Many clients at one time (contract 2.7, 2.12, 7).

use std::collections::BTreeSet;

use gatehouse_histories::all_at_once;
use serde_json::{Value, json};

use crate::documents;
use crate::fixtures::{Organization, unique};
use crate::session::{Reply, Session};

scenarios! {
    both:
        fifty_creations_of_one_name_make_one_organization,
        fifty_creations_of_different_names_all_succeed,
        names_that_differ_in_case_are_one_name_also_at_one_time,
        concurrent_changes_of_different_attributes_all_survive,
        one_of_many_renames_to_one_name_succeeds,
        one_of_many_removals_succeeds,
        everybody_reads_what_anybody_wrote;
}

const CLIENTS: usize = 50;

fn new(name: &str) -> Value {
    documents::organization(json!({"name": name, "email": format!("{name}@tfe.local")}))
}

/// Asserts that each client that asks for a name gets it or is told that it is taken, and that one gets it; returns the number of that client.
fn assert_one_gets_the_name(
    session: &Session<'_>,
    taken: u16,
    ask: impl Fn(usize) -> Reply + Sync,
) -> usize {
    let replies = all_at_once(CLIENTS, ask);
    let mut winners = Vec::new();
    for (number, reply) in replies.into_iter().enumerate() {
        if reply.status == taken {
            winners.push(number);
        } else {
            reply.expect_invalid("/data/attributes/name", "Name has already been taken");
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?} in {:?}", session.edition());
    winners[0]
}

fn fifty_creations_of_one_name_make_one_organization(session: &Session<'_>) {
    let name = format!("tst-{}", unique());
    let body = new(&name);
    assert_one_gets_the_name(session, 201, |_| session.post("organizations", &body));
    let found = session.get(&format!("organizations?q={name}")).expect(200);
    assert_eq!(found.ids(), [name.as_str()]);
    session.delete(&format!("organizations/{name}")).expect(204);
    session
        .get(&format!("organizations/{name}"))
        .expect_not_found();
}

fn names_that_differ_in_case_are_one_name_also_at_one_time(session: &Session<'_>) {
    let name = format!("tst-{}", unique());
    // Each client spells the name with capitals in other places.
    let spelling = |number: usize| -> String {
        let characters = name.char_indices();
        let spelled = characters.map(|(index, character)| match number >> (index % 6) & 1 {
            1 => character.to_ascii_uppercase(),
            _ => character,
        });
        spelled.collect()
    };
    let winner = assert_one_gets_the_name(session, 201, |number| {
        session.post("organizations", &new(&spelling(number)))
    });
    session
        .get(&format!("organizations/{name}"))
        .expect(200)
        .shows("/data/id", spelling(winner));
    session.delete(&format!("organizations/{name}")).expect(204);
}

fn fifty_creations_of_different_names_all_succeed(session: &Session<'_>) {
    let mark = unique();
    let name = |number: usize| format!("tst-{mark}-{number}");
    let replies = all_at_once(CLIENTS, |number| {
        session.post("organizations", &new(&name(number)))
    });
    let mut external_ids = BTreeSet::new();
    for (number, reply) in replies.into_iter().enumerate() {
        let reply = reply.expect(201).shows("/data/id", name(number));
        external_ids.insert(reply.text("/data/attributes/external-id"));
    }
    assert_eq!(external_ids.len(), CLIENTS);
    let found = session
        .get(&format!("organizations?q={mark}&page[size]=100"))
        .expect(200);
    let expected: BTreeSet<String> = (0..CLIENTS).map(name).collect();
    assert_eq!(found.ids().into_iter().collect::<BTreeSet<_>>(), expected);
    for reply in all_at_once(CLIENTS, |number| {
        session.delete(&format!("organizations/{}", name(number)))
    }) {
        reply.expect(204);
    }
}

fn concurrent_changes_of_different_attributes_all_survive(session: &Session<'_>) {
    let organization = Organization::new(session);
    let changes = [
        ("email", json!("changed@tfe.local")),
        ("session-timeout", json!(30)),
        ("session-remember", json!(45)),
        ("collaborator-auth-policy", json!("two_factor_mandatory")),
        ("cost-estimation-enabled", json!(false)),
        ("speculative-plan-management-enabled", json!(false)),
        ("owners-team-saml-role-id", json!("owners")),
        ("allow-force-delete-workspaces", json!(true)),
        ("default-execution-mode", json!("local")),
        ("stacks-enabled", json!(false)),
        ("max-ttl-enabled", json!(true)),
    ];
    for _ in 0..5 {
        organization
            .patch(&json!({"data": {"type": "organizations", "attributes": {
                "email": organization.email(),
                "session-timeout": null,
                "session-remember": null,
                "collaborator-auth-policy": "password",
                "cost-estimation-enabled": true,
                "speculative-plan-management-enabled": true,
                "owners-team-saml-role-id": null,
                "allow-force-delete-workspaces": false,
                "default-execution-mode": "remote",
                "stacks-enabled": true,
                "max-ttl-enabled": false,
            }}}))
            .expect(200)
            .shows("/data", organization.created.clone());
        for reply in all_at_once(changes.len(), |number| {
            let (name, value) = &changes[number];
            organization.update(json!({*name: value}))
        }) {
            reply.expect(200);
        }
        let expected = changes
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        organization
            .show()
            .expect(200)
            .shows_attributes(Value::Object(expected.collect()));
    }
}

fn one_of_many_renames_to_one_name_succeeds(session: &Session<'_>) {
    let mut organizations: Vec<_> = (0..8).map(|_| Organization::new(session)).collect();
    let name = format!("tst-{}", unique());
    let replies = all_at_once(organizations.len(), |number| {
        organizations[number].update(json!({"name": name}))
    });
    let mut renamed = Vec::new();
    for (number, reply) in replies.into_iter().enumerate() {
        if reply.status == 200 {
            renamed.push(number);
        } else {
            reply.expect_invalid("/data/attributes/name", "Name has already been taken");
            organizations[number].show().expect(200);
        }
    }
    let [winner] = renamed[..] else {
        panic!("{renamed:?} were renamed");
    };
    organizations[winner].show().expect_not_found();
    organizations[winner].name = name;
    let external_id = organizations[winner].external_id();
    organizations[winner]
        .show()
        .expect(200)
        .shows("/data/attributes/external-id", external_id);
}

fn one_of_many_removals_succeeds(session: &Session<'_>) {
    let organization = Organization::new(session);
    let replies = all_at_once(CLIENTS, |_| organization.delete());
    let removals = replies.iter().filter(|reply| reply.status == 204).count();
    assert_eq!(removals, 1);
    for reply in replies.into_iter().filter(|reply| reply.status != 204) {
        reply.expect_not_found();
    }
}

/// Every read after the answer to a write shows the write, on any connection.
fn everybody_reads_what_anybody_wrote(session: &Session<'_>) {
    all_at_once(8, |_| {
        let organization = Organization::new(session);
        for timeout in 1..=5 {
            organization
                .update(json!({"session-timeout": timeout}))
                .expect(200);
            organization
                .show()
                .expect(200)
                .shows("/data/attributes/session-timeout", timeout);
            let listed = session
                .get(&format!("organizations?q={}", organization.name))
                .expect(200);
            assert_eq!(listed.at("/data/0/attributes/session-timeout"), timeout);
        }
        organization.delete().expect(204);
        organization.show().expect_not_found();
    });
}
