//! The rights of a token on all paths, and the paths that show them (contract 6.4).

use crate::server::{ROOT, Server, policies};
use gatehouse_access::{
    AdmissionError, Capability, Entities as _, LookupError, Operation, PathRights, Policies as _,
    Request, Requests as _, ResultantAcl, Rights as _, RuleSet, TokenReference,
};

const MOUNTS: &str = "sys/internal/ui/mounts";

fn rights(path: &str, capabilities: &[Capability]) -> PathRights {
    PathRights {
        path: path.to_owned(),
        capabilities: capabilities.to_vec(),
    }
}

#[test]
fn h13_mounts_are_shown_without_a_token_and_a_bad_one_is_refused() {
    let server = Server::ready();
    let admit = |token, path, operation| {
        server.access.admit(&Request {
            token,
            operation,
            path,
            source_address: None,
            wrap_ttl: None,
            parameters: None,
        })
    };
    assert_eq!(
        admit(None, MOUNTS.into(), Operation::Read).unwrap().caller,
        None
    );
    assert!(
        admit(Some(ROOT.into()), MOUNTS.into(), Operation::Read)
            .unwrap()
            .caller
            .is_some()
    );
    let refused = |token, path| admit(token, path, Operation::Read).err();
    assert_eq!(
        refused(Some("bad".into()), MOUNTS.into()),
        Some(AdmissionError::InvalidToken)
    );
    for closed in [
        "sys/internal/ui/mounts/auth/gcp",
        "sys/internal/ui/mounts/",
        "sys/internal/ui/mount",
        "sys/internal/ui/mountsx",
        "sys/internal/ui/resultant-acl",
        "sys/internal",
    ] {
        assert_eq!(
            refused(None, closed.into()),
            Some(AdmissionError::NoToken),
            "{closed}"
        );
    }
}

#[test]
fn every_valid_token_may_ask_about_mounts_and_about_nothing_else() {
    let server = Server::ready();
    let text = "path \"x\" { capabilities = [\"read\"] }";
    server.access.write_policy("own", text).unwrap();
    let mut parameters = policies(&["own"]);
    parameters.no_default_policy = true;
    let token = server.log_in(parameters);
    let token = token.client_token.as_str();
    for path in [MOUNTS, "sys/internal/ui/mounts/auth/gcp"] {
        assert!(server.admit(token, Operation::Read, path).is_ok(), "{path}");
    }
    let refused = server.admit(token, Operation::Read, "sys/internal/ui/resultant-acl");
    assert_eq!(refused.err(), Some(AdmissionError::Denied));
}

#[test]
fn contract_6_4_rights_below_a_path_are_found_through_every_policy() {
    let server = Server::ready();
    let token = server.log_in_with_policy(
        "path \"auth/gcp/role/dev\" { capabilities = [\"read\"] }
         path \"auth/+/deep\" { capabilities = [\"read\"] }
         path \"auth/token/*\" { capabilities = [\"deny\"] }
         path \"none/*\" { capabilities = [\"deny\"] }",
    );
    let paths = ["auth/gcp/", "auth/x", "auth/x/y/", "none/", "auth/token"];
    let paths = paths.map(str::to_owned);
    let reference = token.reference();
    let found = server.access.has_rights_below(&reference, &paths);
    // Of `token/` policy `default` grants something.
    assert_eq!(found, Ok(vec![true, true, false, false, true]));
    let root = server
        .access
        .has_rights_below(&TokenReference::Id(ROOT.into()), &paths);
    assert_eq!(root, Ok(vec![true; 5]));
    let unknown = server
        .access
        .has_rights_below(&TokenReference::Id("x".into()), &paths);
    assert_eq!(unknown, Err(LookupError::UnknownToken));
}

#[test]
fn contract_6_4_the_resultant_acl_unites_the_rules_of_all_policies() {
    use Capability::{Deny, Read, Update};
    let server = Server::ready();
    let rule =
        |path: &str, granted: &str| format!("path \"{path}\" {{ capabilities = [{granted}] }}\n");
    let first = rule("a", "\"read\"")
        + &rule("b/*", "\"read\"")
        + &rule("c/+/d", "\"read\"")
        + &rule("c/+/d*", "\"read\"")
        + &rule("e", "")
        + &rule("f/{{identity.entity.name}}", "\"read\"");
    let second = rule("a", "\"update\"") + &rule("b/*", "\"deny\"") + &rule("c/+/d", "\"update\"");
    server.access.write_policy("first", &first).unwrap();
    server.access.write_policy("second", &second).unwrap();
    let mut parameters = policies(&["first", "second"]);
    parameters.no_default_policy = true;
    let token = server.log_in(parameters);
    let entity = server
        .access
        .list_entities(None, 1)
        .unwrap()
        .entities
        .remove(0);
    let acl = server.access.read_resultant_acl(&token.reference());
    let expected = ResultantAcl::Rules(RuleSet {
        exact: vec![
            rights("a", &[Read, Update]),
            rights("e", &[Deny]),
            rights(&format!("f/{}", entity.name), &[Read]),
        ],
        prefixes: vec![rights("b/", &[Deny])],
        wildcards: vec![rights("c/+/d", &[Read, Update]), rights("c/+/d*", &[Read])],
    });
    assert_eq!(acl, Ok(expected));
    let root = server
        .access
        .read_resultant_acl(&TokenReference::Id(ROOT.into()));
    assert_eq!(root, Ok(ResultantAcl::Root));
}
