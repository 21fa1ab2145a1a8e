//! One list of checks on every host: servers that are asked over HTTP, and programs of other languages that run components themselves.

mod expectation;
mod google;
mod programs;
mod servers;
mod suite;
mod table;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gatehouse_tests::WORKLOAD;
use suite::Suite;

/// The outcome of each check: why it failed, if it did.
type Report = BTreeMap<String, Result<(), String>>;

/// Something that runs components.
pub struct Host {
    /// As the table in `docs/hosts/README.md` names it.
    name: &'static str,
    /// All checks, made once for all tests.
    report: LazyLock<Report>,
}

impl Host {
    const fn new(name: &'static str, run: fn() -> Report) -> Self {
        Self {
            name,
            report: LazyLock::new(run),
        }
    }

    fn assert_content(&self) {
        let failed = self.report.iter().filter_map(|(id, verdict)| {
            let why = verdict.as_ref().err()?;
            Some(format!("{id}: {why}\n"))
        });
        let failed: String = failed.collect();
        assert!(failed.is_empty(), "{}:\n{failed}", self.name);
    }
}

static FRESH: Host = Host::new(
    "server, a new instance each time",
    servers::with_fresh_instances,
);
static REUSED: Host = Host::new(
    "server, instances used again",
    servers::with_instances_used_again,
);
static SPIN_4: Host = Host::new(
    "front for Spin 4 (WASI 0.3)",
    servers::in_the_front_for_spin_4,
);
static SPIN_3: Host = Host::new(
    "front for Spin 3 (WASI 0.2)",
    servers::in_the_front_for_spin_3,
);
static PYTHON: Host = Host::new("Python", programs::in_python);
static NODE: Host = Host::new("Node", programs::in_node);

/// In the order of the table's columns. Another server is one more line here, and a function in `servers` that says how it is started.
static HOSTS: [&Host; 6] = [&FRESH, &REUSED, &SPIN_4, &SPIN_3, &PYTHON, &NODE];

#[test]
fn the_server_passes_every_check_with_a_new_instance_for_each_request() {
    FRESH.assert_content();
}

#[test]
fn the_server_passes_every_check_with_instances_that_are_used_again() {
    REUSED.assert_content();
}

#[test]
fn the_front_for_spin_4_passes_every_check() {
    SPIN_4.assert_content();
}

#[test]
fn the_front_for_spin_3_passes_every_check() {
    SPIN_3.assert_content();
}

#[test]
fn python_passes_every_check() {
    PYTHON.assert_content();
}

#[test]
fn the_example_for_python_judges_a_good_and_a_bad_login() {
    let printed = programs::judge_login_in_python();
    let mut logins = printed
        .lines()
        .filter(|line| line.starts_with("login.login: "));
    let (good, bad) = (logins.next().unwrap(), logins.next().unwrap());
    assert!(
        good.contains("{'ok': {'role': 'dev', ") && good.contains("'policies': ['dev']"),
        "{printed}"
    );
    assert!(
        bad.ends_with("{'err': {'tag': 'signature-invalid'}}"),
        "{printed}"
    );
}

#[test]
fn node_passes_every_check() {
    NODE.assert_content();
}

#[test]
fn the_example_for_node_judges_a_good_and_a_bad_login() {
    let expected = format!(
        "{WORKLOAD} is in under role dev, with dev\n\
         refused: {{\"tag\":\"signature-invalid\"}}\n"
    );
    assert_eq!(programs::judge_login_in_node(), expected);
}

#[test]
fn the_example_for_node_makes_and_lists_organizations() {
    let expected = "made: beta\n\
         made: Acme\n\
         refused: {\"tag\":\"invalid\",\"val\":[{\"field\":\"name\",\"fault\":{\"tag\":\"taken\"}}]}\n\
         listed: Acme, beta\n";
    assert_eq!(programs::make_organizations_in_node(), expected);
}

#[test]
fn nonsense_from_node_and_a_failing_store_are_answered_with_errors_that_have_a_name() {
    let printed = programs::pass_nonsense_in_node();
    assert!(printed.contains(" fail 0\n"), "{printed}");
}

#[test]
fn nonsense_from_python_and_a_failing_store_are_answered_with_errors_that_have_a_name() {
    let printed = programs::bad_surroundings_in_python();
    assert!(
        printed.contains("\nwhat is missing is told by name\n"),
        "{printed}"
    );
}

#[test]
fn the_readme_shows_what_passed_where() {
    let hosts = HOSTS.map(|host| (host, &*host.report));
    table::assert_shown(&Suite::load(), &hosts);
}
