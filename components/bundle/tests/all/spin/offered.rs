//! The interfaces that Spin offers components, and the rule by which it finds the one that a component asks for.

/// Interfaces of one version.
pub type Offer = (&'static str, &'static str, &'static [&'static str]);

/// WASI 0.2 in the version that both releases of Spin have.
const WASI_0_2: [Offer; 7] = [
    (
        "wasi:cli",
        "0.2.6",
        &[
            "environment",
            "exit",
            "stdin",
            "stdout",
            "stderr",
            "terminal-input",
            "terminal-output",
            "terminal-stdin",
            "terminal-stdout",
            "terminal-stderr",
        ],
    ),
    ("wasi:clocks", "0.2.6", &["wall-clock", "monotonic-clock"]),
    ("wasi:filesystem", "0.2.6", &["types", "preopens"]),
    (
        "wasi:sockets",
        "0.2.6",
        &[
            "network",
            "instance-network",
            "udp",
            "udp-create-socket",
            "tcp",
            "tcp-create-socket",
            "ip-name-lookup",
        ],
    ),
    (
        "wasi:random",
        "0.2.6",
        &["random", "insecure", "insecure-seed"],
    ),
    ("wasi:io", "0.2.6", &["error", "poll", "streams"]),
    ("wasi:http", "0.2.6", &["types", "outgoing-handler"]),
];

/// Drafts that both releases have.
const DRAFTS: [Offer; 2] = [
    (
        "wasi:keyvalue",
        "0.2.0-draft2",
        &["store", "batch", "atomics"],
    ),
    ("wasi:config", "0.2.0-draft-2024-09-27", &["store"]),
];

/// Spin's own SQLite. Spin 3.6 has it in version 3.0.0, Spin 4.1 in a later compatible one; nothing here uses more.
const SQLITE: [Offer; 1] = [("spin:sqlite", "3.0.0", &["sqlite"])];

/// Databases elsewhere. Spin 3.6 has this version, and Spin 4.1 a later compatible one.
const POSTGRES: [Offer; 1] = [("spin:postgres", "4.0.0", &["postgres"])];

/// WASI 0.3, which begins with Spin 4.1.
const WASI_0_3: [Offer; 6] = [
    (
        "wasi:cli",
        "0.3.0",
        &[
            "environment",
            "exit",
            "types",
            "stdin",
            "stdout",
            "stderr",
            "terminal-input",
            "terminal-output",
            "terminal-stdin",
            "terminal-stdout",
            "terminal-stderr",
        ],
    ),
    (
        "wasi:clocks",
        "0.3.0",
        &["types", "monotonic-clock", "system-clock"],
    ),
    ("wasi:filesystem", "0.3.0", &["types", "preopens"]),
    ("wasi:sockets", "0.3.0", &["types", "ip-name-lookup"]),
    (
        "wasi:random",
        "0.3.0",
        &["random", "insecure", "insecure-seed"],
    ),
    ("wasi:http", "0.3.0", &["types", "client"]),
];

/// The interfaces of Spin 3.6 that any component here uses.
pub fn by_spin_3_6() -> Vec<Offer> {
    [&WASI_0_2[..], &DRAFTS, &SQLITE, &POSTGRES].concat()
}

/// The same of Spin 4.1.
pub fn by_spin_4_1() -> Vec<Offer> {
    [&WASI_0_2[..], &DRAFTS, &SQLITE, &POSTGRES, &WASI_0_3].concat()
}

/// True if an offer has the interface that a component imports by this name.
pub fn covers(offers: &[Offer], import: &str) -> bool {
    let Some((path, asked)) = import.split_once('@') else {
        return false;
    };
    let Some((package, interface)) = path.split_once('/') else {
        return false;
    };
    offers.iter().any(|(offered, version, interfaces)| {
        *offered == package && interfaces.contains(&interface) && is_one_track(version, asked)
    })
}

/// True if the engine takes one version for the other: the part that tells incompatible ones apart is the same. Pre-releases have to be
/// the same in whole.
fn is_one_track(offered: &str, asked: &str) -> bool {
    let track = |version: &str| {
        if version.contains('-') {
            return None;
        }
        let mut numbers = version.split('.');
        let (major, minor) = (numbers.next()?.to_owned(), numbers.next()?.to_owned());
        Some(if major == "0" {
            (major, minor)
        } else {
            (major, String::new())
        })
    };
    offered == asked || track(offered).is_some_and(|found| track(asked) == Some(found))
}

#[test]
fn releases_of_one_track_match_and_pre_releases_only_themselves() {
    let four = by_spin_4_1();
    for offered in [
        "wasi:io/streams@0.2.0",
        "wasi:io/streams@0.2.12",
        "wasi:http/types@0.3.0",
        "wasi:http/types@0.2.12",
        "wasi:keyvalue/store@0.2.0-draft2",
        "spin:sqlite/sqlite@3.0.0",
        "spin:postgres/postgres@4.0.0",
    ] {
        assert!(covers(&four, offered), "{offered}");
    }
    for missing in [
        "wasi:http/handler@0.3.0",
        "wasi:http/types@0.3.0-rc-2026-01-06",
        "wasi:keyvalue/store@0.2.0-draft",
        "wasi:keyvalue/store@0.2.0",
        "wasi:clocks/timezone@0.2.6",
        "gatehouse:storage/key-value@0.1.0",
        "access-storage",
    ] {
        assert!(!covers(&four, missing), "{missing}");
    }
    assert!(!covers(&by_spin_3_6(), "wasi:http/types@0.3.0"));
}
