//! The page about several servers, followed on this machine from the first line of its section to the last, with other ports.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use gatehouse_tests::{free_address, gatehouse_binary, workspace};
use rustix::process::getuid;

const PAGE: &str = "docs/operate/several-servers.md";
/// Stands before the section.
const MARK: &str =
    "<!-- The section is run by a test as it stands: tests/clients/several_servers_page.rs -->";
/// The user that takes the place of root, because PostgreSQL refuses to run as root.
const UNPRIVILEGED: u32 = 65534;

/// Ends at the first command that fails, and leaves nothing running then. Requests are repeated when the answer is 503, as clients do:
/// beside other tests the database may take longer than a server waits for it.
const PRELUDE: &str = r#"set -euo pipefail -m
end() {
    kill $(jobs -p) $(cat haproxy.pid 2>/dev/null) || true
    pg_ctl --pgdata=database --mode=immediate stop || true
}
trap 'end >/dev/null 2>&1' EXIT
curl() { command curl --retry 4 --retry-delay 1 "$@"; }
"#;
/// Stands before what a command prints.
const SEPARATOR: char = '\u{1e}';

/// A block of a page: its language, and its text.
fn blocks(section: &str) -> Vec<(&str, &str)> {
    let mut parts = section.split("```");
    parts.next();
    let mut blocks = Vec::new();
    while let Some(block) = parts.next() {
        blocks.push(block.split_once('\n').expect("a block has lines"));
        parts.next();
    }
    blocks
}

/// Ports for the section: the common leading digits of four consecutive ports that end in 0 to 3, and the port of the database.
fn free_ports() -> (String, String) {
    let database = free_address();
    let port = database.rsplit(':').next().unwrap().to_owned();
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    loop {
        let first = fastrand::u16(2_000..3_200);
        if (0..4).all(|last| is_free(first * 10 + last)) {
            return (first.to_string(), port);
        }
    }
}

/// A command of the section, and what it printed.
#[derive(Debug)]
struct Step {
    command: String,
    printed: String,
}

/// Follows the section in `folder`.
fn followed(folder: &Path) -> Vec<Step> {
    let page = fs::read_to_string(workspace().join(PAGE)).unwrap();
    let (_, rest) = page.split_once(MARK).expect(MARK);
    let (section, _) = rest.split_once("\n## ").unwrap();
    let (servers, database) = free_ports();
    let section = section.replace("820", &servers).replace("5433", &database);

    let mut commands = Vec::new();
    for (language, text) in blocks(&section) {
        let file = match language {
            "toml" => "gatehouse.toml",
            "" => "haproxy.cfg",
            "console" => {
                let lines = text
                    .lines()
                    .map(|line| line.strip_prefix("$ ").expect(line));
                commands.extend(lines.map(str::to_owned));
                continue;
            }
            other => panic!("{other} is nothing that can be followed"),
        };
        assert!(
            section.contains(&format!("`{file}`")),
            "the page names the file"
        );
        fs::write(folder.join(file), text).unwrap();
    }
    let mut script = PRELUDE.to_owned();
    for command in &commands {
        script.push_str(&format!("printf '{SEPARATOR}'\n{command}\n"));
    }

    // Operators who follow the page compile at their first start; here it is done once for all three servers.
    let code = folder.join("cache/gatehouse");
    let programs = folder.join("bin");
    fs::create_dir(&programs).unwrap();
    let program = programs.join("gatehouse");
    // The folder of the build need not be open to another user.
    fs::copy(gatehouse_binary(), &program).unwrap();
    let mut compile = Command::new(&program);
    compile.args(["components", "compile", "--to"]).arg(&code);
    // A command of the page that never ends fails the test.
    let mut shell = Command::new("timeout");
    shell.args(["--kill-after=30", "900", "bash", "-c", &script]);
    let path = std::env::var("PATH").unwrap();
    for command in [&mut compile, &mut shell] {
        command
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", folder)
            .env("XDG_CACHE_HOME", folder.join("cache"));
        if getuid().is_root() {
            chown(folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
    }
    let compiled = compile.output().unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let run = shell.output().unwrap();
    let printed = String::from_utf8(run.stdout).unwrap();
    assert!(
        run.status.success(),
        "{printed}\n{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let printed = printed.split(SEPARATOR).skip(1).map(str::to_owned);
    let steps: Vec<Step> = commands
        .into_iter()
        .zip(printed)
        .map(|(command, printed)| Step { command, printed })
        .collect();
    steps
}

#[test]
#[cfg_attr(
    not(with_servers_of_others),
    ignore = "initdb, pg_ctl, createdb or haproxy are missing (on Debian: apt install postgresql haproxy; PATH=$PATH:/usr/lib/postgresql/.../bin)"
)]
fn s7_the_page_about_several_servers_leads_to_three_that_know_the_same_and_go_on_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let steps = followed(folder.path());
    let printed_by = |part: &str| -> Vec<&str> {
        let found = steps.iter().filter(|step| step.command.contains(part));
        found.map(|step| step.printed.as_str()).collect()
    };
    let [members] = printed_by("sys/ha-status")[..] else {
        panic!("{steps:?}");
    };
    for server in ["server-1", "server-2", "server-3"] {
        assert!(members.contains(server), "{members}");
    }
    let [known, refused] = printed_by("token/lookup-self")[..] else {
        panic!("{steps:?}");
    };
    assert!(known.contains("\"accessor\""), "{known}");
    assert!(refused.contains("permission denied"), "{refused}");
    let [_, through_balancer, without_database, with_database] = printed_by("v1/sys/health")[..]
    else {
        panic!("{steps:?}");
    };
    assert!(
        through_balancer.contains("\"initialized\":true"),
        "{through_balancer}"
    );
    assert!(
        without_database.starts_with("HTTP/1.1 503 "),
        "{without_database}"
    );
    let without_database = without_database.to_ascii_lowercase();
    assert!(
        without_database.contains("retry-after: "),
        "{without_database}"
    );
    assert!(
        with_database.starts_with("HTTP/1.1 200 "),
        "{with_database}"
    );
}
