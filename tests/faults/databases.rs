//! Databases that are prepared and checked from the command line. A database that cannot be the store is refused with the remedy, and nothing
//! in it changes (SEC-O5, S1, S12).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gatehouse_postgres_server::{PostgresServer, connect};
use gatehouse_tests::gatehouse_binary;
use tempfile::TempDir;

/// A key, in the form of a key file.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const RIGHT_PASSWORD: &str = "a-password-that-is-right";
const WRONG_PASSWORD: &str = "a-password-that-is-wrong";
/// The owner needs no password, all other roles need theirs.
const LET_IN: &str = "host all owner 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";

/// Schemas and relations that are not the server's own.
const RELATIONS: &str = "
    select format('%s.%s', n.nspname, c.relname) from pg_namespace n left join pg_class c on c.relnamespace = n.oid
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1";
/// The rows of the table that holds the version of the tables.
const ROWS: &str = "select s::text from gatehouse.store s order by 1";

const CHECK: &[&str] = &["config", "check"];
const MIGRATE: &[&str] = &["operator", "database", "migrate"];
/// A check of settings by which a start makes the tables.
const CHECK_WITH_MIGRATION: &[&str] = &["config", "check", "--set", "storage.migrate=true"];
const NO_STANDBY: &str = "no synchronous standby";

/// A folder with a key and settings that name a database.
struct Place {
    folder: TempDir,
    url: String,
}

impl Place {
    fn new(url: String) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            url,
        };
        let key = place.secret("key", KEY);
        let settings = format!(
            "[storage]\ntype = \"postgresql\"\nurl = {:?}\n\n[seal]\nkey_file = {key:?}\n",
            place.url
        );
        fs::write(place.configuration(), settings).unwrap();
        place
    }

    async fn with_database_at(server: &PostgresServer) -> Self {
        Self::new(server.url(&server.create_database().await))
    }

    /// The name of the database.
    fn name(&self) -> &str {
        self.url.rsplit('/').next().unwrap()
    }

    fn configuration(&self) -> PathBuf {
        self.folder.path().join("gatehouse.toml")
    }

    /// A file that its owner alone may read.
    fn secret(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        file
    }

    /// Runs a command, and answers whether it succeeded and what it said to the operator.
    fn run(&self, command: &[&str]) -> (bool, String) {
        let output = Command::new(gatehouse_binary())
            .args(command)
            .arg("--config")
            .arg(self.configuration())
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        for secret in [KEY, RIGHT_PASSWORD, WRONG_PASSWORD] {
            assert!(!told.contains(secret), "{told}");
        }
        (output.status.success(), told)
    }

    #[track_caller]
    fn done(&self, command: &[&str]) -> String {
        let (is_done, told) = self.run(command);
        assert!(is_done, "{command:?}: {told}");
        told
    }

    #[track_caller]
    fn assert_refused(&self, command: &[&str], said: &str) {
        let (is_done, told) = self.run(command);
        assert!(!is_done, "{command:?}: {told}");
        assert!(told.contains(said), "{command:?}: {told}");
    }

    async fn execute(&self, statements: &str) {
        let client = connect(&self.url).await.unwrap();
        client.batch_execute(statements).await.unwrap();
    }

    /// The names of everything in the database, and the rows of the table that holds the version of its tables.
    async fn content(&self) -> Vec<String> {
        let client = connect(&self.url).await.unwrap();
        let names = async |statement: &str| -> Vec<String> {
            let rows = client.query(statement, &[]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        };
        let mut content = names(RELATIONS).await;
        if content.iter().any(|name| name == "gatehouse.store") {
            content.extend(names(ROWS).await);
        }
        content
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o5_a_database_is_made_ready_by_one_command_and_tried_by_another() {
    let server = PostgresServer::start(&[]).await;
    let place = Place::with_database_at(&server).await;
    let empty = place.content().await;
    assert_eq!(empty, ["public."]);
    place.assert_refused(CHECK, "run `gatehouse operator database migrate`");
    place.done(CHECK_WITH_MIGRATION);
    assert_eq!(place.content().await, empty, "a check makes nothing");

    let told = place.done(MIGRATE);
    assert!(told.contains("The tables were made"), "{told}");
    let made = place.content().await;
    for table in ["entry", "lease", "node", "outcome", "store"] {
        let table = format!("gatehouse.{table}");
        assert!(made.contains(&table), "{table}: {made:?}");
    }
    assert!(place.done(CHECK).contains(NO_STANDBY));
    assert!(place.done(MIGRATE).contains("already"));
    assert_eq!(place.content().await, made);

    // Tables of an earlier version are brought up to date by one command alone.
    place
        .execute("update gatehouse.store set number = 3 where name = 'schema'")
        .await;
    let earlier = place.content().await;
    place.assert_refused(
        CHECK,
        "make a backup and run `gatehouse operator database migrate`",
    );
    assert_eq!(place.content().await, earlier);
    let told = place.done(MIGRATE);
    assert!(told.contains("were of version 3"), "{told}");
    assert_eq!(place.content().await, made);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s12_tables_that_are_newer_or_anothers_are_refused_and_left_as_they_are() {
    let server = PostgresServer::start(&[]).await;
    let newer = Place::with_database_at(&server).await;
    newer.done(MIGRATE);
    newer
        .execute("update gatehouse.store set number = number + 1 where name = 'schema'")
        .await;
    let strange = Place::with_database_at(&server).await;
    strange
        .execute("create schema gatehouse; create table gatehouse.gates (width int)")
        .await;
    let alike = Place::with_database_at(&server).await;
    let tables = "create schema gatehouse; create table gatehouse.store (goods text); insert into gatehouse.store values ('bread')";
    alike.execute(tables).await;
    for (place, said) in [
        (&newer, "run the newer program that made them"),
        (&strange, "name a database of its own for Gatehouse"),
        (&alike, "name a database of its own for Gatehouse"),
    ] {
        let before = place.content().await;
        for command in [CHECK, CHECK_WITH_MIGRATION, MIGRATE] {
            place.assert_refused(command, said);
            assert_eq!(place.content().await, before, "{command:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o5_who_is_not_let_in_or_may_not_make_tables_is_told_what_to_correct() {
    let server = PostgresServer::start_with_files(&[], &[("pg_hba.conf", LET_IN)]).await;
    let of_owner = Place::with_database_at(&server).await;
    let role = format!("create role guest login password '{RIGHT_PASSWORD}'");
    of_owner.execute(&role).await;
    let before = of_owner.content().await;
    let place = Place::new(of_owner.url.replace("owner@", "guest@"));
    for command in [CHECK, MIGRATE] {
        place.assert_refused(command, "storage.password_file");
    }

    let wrong = place.secret("wrong", WRONG_PASSWORD);
    let right = place.secret("right", RIGHT_PASSWORD);
    let [wrong, right] = [&wrong, &right].map(|it| format!("storage.password_file={}", text(it)));
    let missing = of_owner.url.replace("test_", "missing_");
    let missing = format!("storage.url={missing}");
    let nowhere = "storage.url=postgresql://guest@127.0.0.1:1/guests";
    let malformed = "storage.url=127.0.0.1/guests";
    for (setting, said) in [
        (
            &*wrong,
            "correct the user in storage.url, the password in storage.password_file",
        ),
        (
            &*missing,
            "make the database, or correct its name in storage.url",
        ),
        (nowhere, "cannot be reached"),
        (malformed, "expected postgresql://USER@HOST:PORT/DATABASE"),
    ] {
        for command in [CHECK, MIGRATE] {
            let command = [command, &["--set", setting]].concat();
            place.assert_refused(&command, said);
        }
    }
    let password = ["--set", &*right];
    let with_password = |command: &'static [&'static str]| [command, &password[..]].concat();
    place.assert_refused(
        &with_password(CHECK),
        "run `gatehouse operator database migrate`",
    );
    place.assert_refused(&with_password(MIGRATE), "grant the right");
    assert_eq!(of_owner.content().await, before);

    let grant = format!("grant create on database {} to guest", of_owner.name());
    of_owner.execute(&grant).await;
    place.done(&with_password(MIGRATE));
    place.done(&with_password(CHECK));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s1_a_missing_standby_is_told_and_a_standby_is_no_store() {
    let primary = PostgresServer::start(&[]).await;
    let place = Place::with_database_at(&primary).await;
    place.done(MIGRATE);
    assert!(place.done(CHECK).contains(NO_STANDBY));
    let standby = primary.start_standby().await;
    let told = place.done(CHECK);
    assert!(!told.contains(NO_STANDBY), "{told}");

    let of_standby = Place::new(standby.url(place.name()));
    let before = of_standby.content().await;
    for command in [CHECK, CHECK_WITH_MIGRATION, MIGRATE] {
        of_standby.assert_refused(command, "name the primary");
    }
    assert_eq!(of_standby.content().await, before);
    // Of several hosts the primary is used.
    let [first, second] = [&standby, &primary].map(PostgresServer::port);
    let hosts = format!(
        "storage.url=postgresql://owner@127.0.0.1:{first},127.0.0.1:{second}/{}",
        place.name()
    );
    of_standby.done(&[CHECK, &["--set", &hosts]].concat());
}

#[test]
fn a_store_that_is_no_database_has_no_tables_to_make() {
    let place = Place::new("postgresql://nobody@127.0.0.1:1/none".to_owned());
    let folder = place.folder.path().join("data");
    let path = format!("storage.path={}", text(&folder));
    let other = ["--set", "storage.type=redb", "--set", &path];
    place.assert_refused(
        &[MIGRATE, &other].concat(),
        "brought up to date when they are opened",
    );
    assert!(!folder.exists());
}
