//! How long tokens live (contract 4.6, 4.8).

use super::*;
use gatehouse_orgs::{LifetimeChange, LifetimeError, TokenKind};

const TWO_YEARS: u64 = 63_113_904_000;

fn change(token_type: &str, maximum: i64) -> LifetimeChange {
    LifetimeChange {
        token_type: text(token_type),
        maximum: Attribute::Value(maximum),
    }
}

fn limited() -> OrganizationChanges {
    OrganizationChanges {
        max_ttl_enabled: Attribute::Value(true),
        ..named("acme")
    }
}

#[test]
fn contract_4_6_a_token_without_an_end_ends_two_calendar_years_later() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let team = owners(&orgs, &acme);
    // 2026-02-02 to 2028-02-02, without a leap day between.
    let end = NOW * 1000 + 730 * DAY;
    for owner in [
        of_organization(&acme),
        of_audit_trail(&acme),
        TokenOwner::Team(team.clone()),
        TokenOwner::TeamNamed(team),
    ] {
        let issued = issue(&orgs, &owner, &described("x"));
        assert_eq!(issued.token.expires_at, Some(end), "{owner:?}");
    }
    let (ada, _) = person(&orgs, "ada");
    let of_user = issue(&orgs, &TokenOwner::User(ada.id), &TokenRequest::default());
    assert_eq!(of_user.token.expires_at, Some(end));
}

#[test]
fn contract_4_8_four_kinds_are_there_from_the_beginning_and_keep_their_ids() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme").external_id;
    let before = orgs.token_lifetimes(&acme).unwrap();
    let kinds: Vec<_> = before.iter().map(|policy| policy.kind.as_str()).collect();
    assert_eq!(kinds, ["organization", "team", "user", "audit_trails"]);
    for policy in &before {
        assert!(policy.id.starts_with("ttl-") && policy.id.len() == 20);
        assert_eq!(policy.maximum, TWO_YEARS);
        assert_eq!(
            (policy.created_at, policy.updated_at),
            (NOW * 1000, NOW * 1000)
        );
    }
    world.clock.advance(Duration::from_secs(5));
    let changes = [change("team", 3_600_000), change("metrics", 7)];
    let after = orgs
        .set_token_lifetimes(&acme, &changes, &installation())
        .unwrap();
    assert_eq!(orgs.token_lifetimes(&acme), Ok(after.clone()));
    assert_eq!(after.len(), 5);
    for (was, is) in before.iter().zip(&after) {
        assert_eq!((&was.id, was.created_at), (&is.id, is.created_at));
        let is_changed = is.kind == TokenKind::Team;
        assert_eq!(is.updated_at > was.updated_at, is_changed);
        let maximum = if is_changed { 3_600_000 } else { TWO_YEARS };
        assert_eq!(is.maximum, maximum);
    }
    assert_eq!(after[4].kind, TokenKind::Metrics);
    assert_eq!(after[4].maximum, 7);
    let again = orgs
        .set_token_lifetimes(&acme, &[change("metrics", 8)], &installation())
        .unwrap();
    assert_eq!((&again[4].id, again[4].maximum), (&after[4].id, 8));
}

#[test]
fn contract_4_8_what_is_no_policy_changes_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme").external_id;
    let before = store.values();
    let issue_of = AttributeIssue::new;
    let of = |token_type, maximum| LifetimeChange {
        token_type,
        maximum,
    };
    for (changes, issues) in [
        (vec![], vec![issue_of("token-ttl-policies", Fault::Blank)]),
        (
            vec![change("team", 5), change("robot", 5)],
            vec![issue_of("token-type", Fault::NotIncluded)],
        ),
        (
            vec![change("team", 0), change("user", -1)],
            vec![
                issue_of("max-ttl-ms", Fault::NotPositive),
                issue_of("max-ttl-ms", Fault::NotPositive),
            ],
        ),
        (
            vec![of(Attribute::WrongType, Attribute::WrongType)],
            vec![
                issue_of("token-type", Fault::NotText),
                issue_of("max-ttl-ms", Fault::NotInteger),
            ],
        ),
        (
            vec![of(Attribute::Absent, Attribute::Null)],
            vec![
                issue_of("token-type", Fault::Blank),
                issue_of("max-ttl-ms", Fault::Blank),
            ],
        ),
    ] {
        let refused = orgs.set_token_lifetimes(&acme, &changes, &installation());
        assert_eq!(refused, Err(LifetimeError::Invalid(issues)));
    }
    assert_eq!(store.values(), before);
    let none = "org-0123456789abcdef";
    let refused = orgs.set_token_lifetimes(none, &[change("team", 5)], &installation());
    assert_eq!(refused, Err(LifetimeError::NotFound));
    assert_eq!(orgs.token_lifetimes(none), Ok(Vec::new()));
}

#[test]
fn contract_4_8_a_policy_binds_new_tokens_while_the_organization_wants_it() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let id = &acme.external_id;
    let hour = 3_600_000;
    let now = NOW * 1000;
    let changes = ["organization", "team", "audit_trails"].map(|kind| change(kind, hour));
    orgs.set_token_lifetimes(id, &changes, &installation())
        .unwrap();
    let team = owners(&orgs, &acme);
    let all = [
        of_organization(&acme),
        of_audit_trail(&acme),
        TokenOwner::Team(team.clone()),
        TokenOwner::TeamNamed(team),
    ];
    let later = now + u64::try_from(hour).unwrap();
    let wanted = |name: &str, expires_at| TokenRequest {
        description: Some(name.to_owned()),
        expires_at,
    };
    for owner in &all {
        // Not yet.
        issue(&orgs, owner, &wanted("a", Some(later + 1)));
    }
    orgs.update_named("acme", &limited(), &installation())
        .unwrap();
    for owner in &all {
        let refused = faults(&orgs, owner, &wanted("b", Some(later + 1)));
        let expected = AttributeIssue::new("expired-at", Fault::LifetimeExceeded);
        assert_eq!(refused, [expected]);
        let longest = issue(&orgs, owner, &wanted("c", Some(later)));
        assert_eq!(longest.token.expires_at, Some(later));
        let usual = issue(&orgs, owner, &wanted("d", None));
        assert_eq!(usual.token.expires_at, Some(later));
    }
    let (ada, _) = person(&orgs, "ada");
    issue(&orgs, &TokenOwner::User(ada.id), &until(later + DAY));
}

#[test]
fn contract_1_8_all_faults_of_a_token_are_told_together() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    orgs.update_named("acme", &limited(), &installation())
        .unwrap();
    let owner = TokenOwner::TeamNamed(owners(&orgs, &acme));
    let request = TokenRequest {
        description: None,
        expires_at: Some(u64::MAX),
    };
    assert_eq!(
        faults(&orgs, &owner, &request),
        [
            AttributeIssue::new("expired-at", Fault::LifetimeExceeded),
            AttributeIssue::new("description", Fault::Blank)
        ]
    );
}
