use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    backup: Backup,
}

fn parsed(arguments: &[&str]) -> Result<Backup, clap::Error> {
    let line = Line::try_parse_from([&["backup"], arguments].concat());
    line.map(|line| line.backup)
}

#[test]
fn a_backup_is_of_a_store_or_of_a_server_or_of_an_installation_under_spin() {
    let of_store = parsed(&["--to", "f", "--config", "missing", "--set", "a.b=c"]).unwrap();
    let unread = of_store.store.find().err().unwrap();
    assert!(unread.to_string().contains("missing"), "{unread}");
    let under_spin = ["--to", "f", "--spin-runtime", "r", "--seal-key", "k"];
    for records in [&[][..], &["--spin-records", "key-value"]] {
        let parsed = parsed(&[&under_spin, records].concat()).unwrap();
        let found = parsed.store.find().unwrap();
        assert!(matches!(found, Some(NamedStore::UnderSpin(_))));
    }
    let in_database = ["--to", "f", "--postgres-url-file", "u", "--seal-key", "k"];
    for trusted in [&[][..], &["--postgres-ca-file", "c"]] {
        let parsed = parsed(&[&in_database, trusted].concat()).unwrap();
        let found = parsed.store.find().unwrap();
        assert!(matches!(found, Some(NamedStore::UnderSpin(_))));
    }
    let of_server = parsed(&["--to", "-", "--address", "https://g.example:8200"]).unwrap();
    assert!(of_server.address.is_some());
    for wrong in [
        &["--config", "c"][..],
        &[
            "--to",
            "f",
            "--config",
            "c",
            "--address",
            "https://g.example",
        ],
        &["--to", "f", "--config", "c", "--ca-file", "x"],
        &["--to", "f", "--config", "c", "--token-file", "x"],
        &["--to", "f", "--spin-runtime", "r"],
        &["--to", "f", "--seal-key", "k"],
        &["--to", "f", "--spin-records", "sqlite"],
        &[&under_spin[..], &["--config", "c"]].concat(),
        &[&under_spin[..], &["--address", "https://g.example"]].concat(),
        &[&under_spin[..], &["--set", "a.b=c"]].concat(),
        &["--to", "f", "--postgres-url-file", "u"],
        &["--to", "f", "--postgres-ca-file", "c"],
        &[&in_database[..], &["--spin-runtime", "r"]].concat(),
        &[&in_database[..], &["--spin-records", "sqlite"]].concat(),
        &[&in_database[..], &["--config", "c"]].concat(),
        &[&in_database[..], &["--address", "https://g.example"]].concat(),
        &[&in_database[..], &["--set", "a.b=c"]].concat(),
        &[&under_spin[..], &["--postgres-ca-file", "c"]].concat(),
        &["--to", "f", "--config", "c", "--postgres-ca-file", "c"],
        &["--to", "f", "--config", "c", "--seal-key", "k"],
        &["--to", "f", "--config", "c", "--spin-records", "sqlite"],
        &[
            "--to",
            "f",
            "--address",
            "https://g.example",
            "--seal-key",
            "k",
        ],
    ] {
        assert!(parsed(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_backup_is_described_in_one_line() {
    let inventory = Inventory {
        manifest: gatehouse_store::Manifest {
            program: "0.1.0".to_owned(),
            created_at: 1_795_255_200_000,
            installation: Some("an-id".to_owned()),
            seal: SealKind::KeyFile,
            namespaces: vec!["keyring".to_owned(), "access".to_owned()],
        },
        summary: gatehouse_store::Summary {
            records: vec![2, 40],
            last_version: 0,
        },
        bytes: 1234,
        digest: [0xab; 32],
    };
    let line = describe(&inventory);
    assert!(line.starts_with(
        "42 records, 1234 bytes, of installation an-id, at 2026-11-21T10:00:00Z, digest abab"
    ));
    let counts: Vec<_> = counts(&inventory).collect();
    assert_eq!(counts, [("keyring", 2), ("access", 40)]);
}
