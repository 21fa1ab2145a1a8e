//! Changing enabled mounts (contract 6.3).

use crate::server::{HOUR, Server};
use gatehouse_access::{
    Leases, MountRequest, MountTuning, Mounts as _, Renewal as _, Revalidated, TokenParameters,
    TuneError,
};

fn leases(default: Option<u64>, max: Option<u64>) -> MountTuning {
    MountTuning {
        default_lease_ttl: default,
        max_lease_ttl: max,
        ..MountTuning::default()
    }
}

fn in_force(server: &Server, path: &str) -> Leases {
    server.access.read_mount(path).unwrap().unwrap().leases
}

#[test]
fn leases_in_force_follow_the_tuning_and_count_from_the_next_renewal_on() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters::default());
    server
        .access
        .tune_mount("gcp", &leases(None, Some(2 * HOUR)))
        .unwrap();
    let expected = Leases {
        default_ttl: 2 * HOUR,
        max_ttl: 2 * HOUR,
    };
    assert_eq!(in_force(&server, "gcp/"), expected);
    let view = server.access.read_mount("gcp").unwrap().unwrap();
    assert_eq!(view.configuration.default_lease_ttl, 0, "as it was set");
    let reference = token.reference();
    let fresh = Revalidated::default();
    let renewed = server.access.renew_token(&reference, 0, Some(&fresh));
    assert_eq!(renewed.unwrap().lease_duration, 2 * HOUR);
    server
        .access
        .tune_mount("gcp", &leases(Some(0), Some(0)))
        .unwrap();
    assert_eq!(in_force(&server, "gcp").max_ttl, 768 * HOUR);
}

#[test]
fn refusals_store_nothing_and_an_equal_tuning_writes_nothing() {
    let server = Server::ready();
    let tune = |path: &str, tuning: MountTuning| server.access.tune_mount(path, &tuning);
    tune("gcp", leases(Some(3 * HOUR), None)).unwrap();
    let before = (server.store.commits(), server.store.values());
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        tune("gcp", leases(None, Some(HOUR))),
        Err(TuneError::MaxBelowDefault(Leases {
            default_ttl: 3 * HOUR,
            max_ttl: HOUR
        }))
    );
    let beyond_the_system = leases(Some(769 * HOUR), None);
    assert!(tune("gcp", beyond_the_system).is_err());
    for path in ["none", "", "a//b", "gcp/below"] {
        assert_eq!(
            tune(path, leases(Some(1), None)),
            Err(TuneError::NoMount),
            "{path:?}"
        );
    }
    let visibility = MountTuning {
        listing_visibility: text("x"),
        ..MountTuning::default()
    };
    assert_eq!(
        tune("gcp", visibility),
        Err(TuneError::InvalidListingVisibility)
    );
    let key = MountTuning {
        identity_token_key: text("signer"),
        ..MountTuning::default()
    };
    assert_eq!(tune("gcp", key), Err(TuneError::UnknownIdentityTokenKey));
    let token_type = |name: &str| MountTuning {
        token_type: text(name),
        ..MountTuning::default()
    };
    assert_eq!(
        tune("gcp", token_type("x")),
        Err(TuneError::InvalidTokenType)
    );
    assert_eq!(
        tune("token", token_type("batch")),
        Err(TuneError::TokenMountType)
    );
    tune("gcp", token_type("")).unwrap();
    tune("gcp", leases(Some(3 * HOUR), None)).unwrap();
    tune("gcp", MountTuning::default()).unwrap();
    assert_eq!((server.store.commits(), server.store.values()), before);
}

#[test]
fn concurrent_tunings_of_different_members_all_count() {
    let server = Server::ready();
    let tunings = [
        leases(Some(HOUR), None),
        leases(None, Some(2 * HOUR)),
        MountTuning {
            description: Some("ours".to_owned()),
            ..MountTuning::default()
        },
        MountTuning {
            identity_token_key: Some("default".to_owned()),
            trim_request_trailing_slashes: Some(true),
            ..MountTuning::default()
        },
    ];
    std::thread::scope(|scope| {
        for tuning in &tunings {
            let access = server.another_instance();
            scope.spawn(move || access.tune_mount("gcp/", tuning).unwrap());
        }
    });
    let mount = server.access.read_mount("gcp").unwrap().unwrap();
    assert_eq!(
        mount.leases,
        Leases {
            default_ttl: HOUR,
            max_ttl: 2 * HOUR
        }
    );
    assert_eq!(mount.description, "ours");
    let configuration = mount.configuration;
    assert_eq!(configuration.identity_token_key.as_deref(), Some("default"));
    assert!(configuration.trim_request_trailing_slashes);
}

#[test]
fn a_mount_is_found_by_its_own_path_and_by_those_below() {
    let server = Server::ready();
    let nested = MountRequest {
        mount_type: "gcp".to_owned(),
        ..MountRequest::default()
    };
    server.access.enable_mount("cloud/prod", &nested).unwrap();
    let found = |path: &str| {
        let mount = server.access.find_mount(path).unwrap();
        mount.map(|mount| mount.path)
    };
    for (path, mount) in [
        ("gcp", Some("gcp/")),
        ("gcp/", Some("gcp/")),
        ("gcp/config/x", Some("gcp/")),
        ("token/create", Some("token/")),
        ("cloud/prod/role/dev", Some("cloud/prod/")),
        ("cloud", None),
        ("cloud/production", None),
        ("gcpx", None),
        ("gcp//x", None),
        ("", None),
    ] {
        assert_eq!(found(path).as_deref(), mount, "{path:?}");
    }
}
