//! Runtime configurations of Spin that lead `gatehouse operator` to no store.

use std::fs;

use gatehouse_tests::{Installation, Storage};

use crate::HOST;
use crate::backups::{operator, text};

#[test]
fn a_runtime_configuration_that_names_no_files_of_spin_is_refused_with_what_mends_it() {
    let installation =
        Installation::not_started_program(HOST.program(), Storage::Durable, "").unwrap();
    let runtime = installation.folder().join("spin-runtime.toml");
    let key = installation.folder().join("seal.key");
    let to = installation.folder().join("backup");
    let libsql = "[sqlite_database.access]\ntype = \"libsql\"\nurl = \"http://127.0.0.1:1\"\n";
    for (content, says) in [
        ("[sqlite_database", "is no runtime configuration of Spin"),
        ("", "has no [sqlite_database.access]"),
        (libsql, "is no file of Spin's own"),
        (
            "[sqlite_database.access]\ntype = \"spin\"\npath = \"none\"\n\
             [sqlite_database.auth-method]\ntype = \"spin\"\npath = \"none\"\n\
             [sqlite_database.orgs]\ntype = \"spin\"\npath = \"none\"\n",
            "there is no file",
        ),
    ] {
        fs::write(&runtime, content).unwrap();
        let named = [
            "backup",
            "--spin-runtime",
            text(&runtime),
            "--seal-key",
            text(&key),
            "--to",
            text(&to),
        ];
        let refused = operator(&installation, &named);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.errors.contains(says), "{says}: {refused:?}");
        assert!(!to.exists());
    }
}
