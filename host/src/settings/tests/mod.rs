use super::*;

/// Where the server of these tests listens.
const HERE: &str = "127.0.0.1:8200";

const COMPLETE: &str = r#"
    [storage]
    type = "memory"
"#;

fn none() -> Vec<(String, String)> {
    Vec::new()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn problems(text: &str) -> Vec<String> {
    problems_with(text, none())
}

fn problems_with(text: &str, environment: Vec<(String, String)>) -> Vec<String> {
    Settings::from_text(text, environment, none())
        .unwrap_err()
        .problems
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[cfg(not(feature = "postgresql"))]
#[test]
fn a_database_is_refused_by_a_program_without_a_client_for_it() {
    let found = problems(
        "[storage]\ntype = \"postgresql\"\nurl = \"postgresql://a@h/d\"\n[seal]\ntype = \"shamir\"\n",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("--features postgresql"), "{found:?}");
}

#[cfg(feature = "postgresql")]
#[test]
fn the_address_of_a_database_is_one_and_holds_no_password() {
    let of = |storage: &str| {
        let text =
            format!("[storage]\ntype = \"postgresql\"\n{storage}[seal]\ntype = \"shamir\"\n");
        Settings::from_text(&text, none(), none())
    };
    for url in [
        "postgresql://gatehouse@db/gatehouse",
        "postgres://gatehouse@db1:5432,db2:5432/gatehouse?sslmode=verify-full",
        "postgresql://gatehouse@[::1]:5432/gatehouse",
    ] {
        let settings = of(&format!("url = {url:?}\n")).unwrap();
        assert_eq!(settings.storage.connections, 16);
        assert!(!settings.storage.migrate);
    }
    for (storage, said) in [
        ("", "storage.url: missing"),
        ("url = \"mysql://a@h/d\"\n", "storage.url: expected"),
        ("url = \"host=h user=a\"\n", "storage.url: expected"),
        (
            "url = \"postgresql://a:secret@h/d\"\n",
            "storage.url: holds a password",
        ),
        (
            "url = \"postgresql://a@h/d?password=secret\"\n",
            "storage.url: holds a password",
        ),
        (
            "url = \"postgresql://a@h/d\"\npath = \"/p\"\n",
            "storage.path: not used",
        ),
    ] {
        let text = of(storage).unwrap_err().to_string();
        assert!(text.contains(said), "{storage}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn the_defaults_are_those_of_the_limits_table() {
    let settings = Settings::from_text(COMPLETE, none(), none()).unwrap();
    assert_eq!(settings.listener.address.to_string(), "127.0.0.1:8200");
    assert_eq!(settings.listener.body_limit, 1 << 20);
    assert_eq!(settings.limits.header_bytes, 16 << 10);
    assert_eq!(settings.limits.connections_per_address, 500);
    assert_eq!(settings.organizations.edition, Edition::Hosted);
    assert!(!settings.google.allow_http_loopback);
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let file = "[storage]\ntype = \"memory\"\n[listener]\naddress = \"127.0.0.1:1\"\nbody_limit = \"2 MiB\"\n[log]\nlevel = \"warn\"\n";
    let environment = pairs(&[
        ("GATEHOUSE_LISTENER_ADDRESS", "127.0.0.1:2"),
        ("GATEHOUSE_LISTENER_BODY_LIMIT", "3 MiB"),
        ("HOME", "/root"),
    ]);
    let flags = pairs(&[("listener.address", "127.0.0.1:3")]);
    let settings = Settings::from_text(file, environment, flags).unwrap();
    assert_eq!(settings.listener.address.port(), 3);
    assert_eq!(settings.listener.body_limit, 3 << 20);
    assert_eq!(settings.log.level, "warn");

    let origin = |name: &str| {
        let found = settings
            .effective()
            .iter()
            .find(|setting| setting.name == name);
        found.unwrap().origin
    };
    assert_eq!(origin("listener.address"), Origin::Flag);
    assert_eq!(origin("listener.body_limit"), Origin::Environment);
    assert_eq!(origin("log.level"), Origin::File);
    assert_eq!(origin("log.format"), Origin::Default);
}

#[test]
fn an_unknown_setting_is_named_with_the_nearest_known_one() {
    let found = problems("[storage]\ntype = \"memory\"\n[listener]\nadress = \"127.0.0.1:1\"\n");
    assert_eq!(
        found,
        ["listener.adress: unknown setting; did you mean `listener.address`?"]
    );
}

#[test]
fn a_setting_in_the_wrong_section_is_sent_to_the_right_one() {
    let found = problems("[storage]\ntype = \"memory\"\nkey_file = \"/k\"\n");
    assert_eq!(
        found,
        ["storage.key_file: unknown setting; did you mean `seal.key_file`?"]
    );
}

#[test]
fn an_unknown_section_is_named_with_the_nearest_known_one() {
    let found = problems("[storage]\ntype = \"memory\"\n[listner]\n");
    assert_eq!(
        found,
        ["[listner]: there is no such section; did you mean [listener]?"]
    );
}

#[test]
fn an_environment_variable_of_a_known_section_must_name_a_setting() {
    let found = problems_with(COMPLETE, pairs(&[("GATEHOUSE_LISTENER_ADRESS", "x")]));
    assert_eq!(
        found,
        [
            "GATEHOUSE_LISTENER_ADRESS: this environment variable names no setting; did you mean \
             `GATEHOUSE_LISTENER_ADDRESS`?"
        ]
    );
}

#[test]
fn a_flag_must_name_a_setting() {
    let error =
        Settings::from_text(COMPLETE, none(), pairs(&[("log.levle", "debug")])).unwrap_err();
    let found: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        ["log.levle: this flag names no setting; did you mean `log.level`?"]
    );
}

#[test]
fn every_problem_is_named_at_once() {
    let found = problems(
        r#"
        [listener]
        address = "0.0.0.0:8200"
        body_limit = "much"
        tls = true
        [google]
        token_url = "http://oauth.example.com/token"
        universe_domain = "https://example.com"
        allowed_hosts = ["https://user@host"]
        [organizations]
        edition = "enterprise"
        [limits]
        header_timeout = 0
        [version]
        compatibility = "1.21+ent"
        "#,
    );
    for subject in [
        "listener.address",
        "listener.body_limit",
        "listener.tls",
        "google.token_url",
        "google.universe_domain",
        "google.allowed_hosts",
        "organizations.edition",
        "limits.header_timeout",
        "version.compatibility",
        "storage.path",
        "seal.key_file",
    ] {
        let named = found
            .iter()
            .filter(|problem| problem.starts_with(&format!("{subject}: ")))
            .count();
        assert_eq!(named, 1, "{subject} in {found:#?}");
    }
    assert_eq!(found.len(), 11, "{found:#?}");
}

#[test]
fn contract_6_2_the_version_may_be_that_of_the_enterprise_edition() {
    let settings = |version: &str| {
        let text = format!("{COMPLETE}\n[version]\ncompatibility = \"{version}\"");
        Settings::from_text(&text, none(), none())
    };
    for version in ["1.21.4", "1.21.4+ent"] {
        let settings = settings(version).unwrap();
        assert_eq!(settings.version.compatibility, version);
    }
    for version in [
        "1.21+ent",
        "1.21.4+ent.hsm",
        "1.21.4-ent",
        "+ent",
        "1.21.4+ent+ent",
    ] {
        let refused = settings(version).unwrap_err();
        assert_eq!(refused.problems.len(), 1, "{version}");
    }
}

#[test]
fn h7_plain_http_on_a_public_address_needs_its_setting() {
    let public = "[storage]\ntype = \"memory\"\n[listener]\naddress = \"0.0.0.0:8200\"\n";
    assert!(problems(public)[0].contains("listener.allow_plain_http = true"));
    let allowed = format!("{public}allow_plain_http = true\n");
    assert!(Settings::from_text(&allowed, none(), none()).is_ok());
}

#[test]
fn k3_a_durable_store_needs_a_key_file_and_there_is_no_built_in_one() {
    let found = problems("[storage]\npath = \"/var/lib/gatehouse\"\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("seal.key_file: missing"), "{found:?}");
}

#[test]
fn k2_a_seal_is_a_key_file_or_shares_and_never_both() {
    let kind = |text: &str| {
        let settings = Settings::from_text(text, none(), none()).unwrap();
        settings.seal.kind
    };
    let durable = "[storage]\npath = \"/var/lib/gatehouse\"\n[seal]\n";
    let shares = format!("{durable}type = \"shamir\"\n");
    assert_eq!(kind(&shares), SealType::Shamir);
    let file = format!("{durable}key_file = \"/k\"\n");
    assert_eq!(kind(&file), SealType::KeyFile);
    assert_eq!(
        kind(&format!("{file}type = \"key-file\"\n")),
        SealType::KeyFile
    );
    assert_eq!(kind(COMPLETE), SealType::KeyFile);
    let in_memory = format!("{COMPLETE}[seal]\ntype = \"shamir\"\n");
    assert_eq!(kind(&in_memory), SealType::Shamir);

    for both in [&shares, &in_memory] {
        let found = problems(&format!("{both}key_file = \"/k\"\n"));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("seal.key_file: not used with seal.type = \"shamir\""),
            "{found:?}"
        );
    }
    let neither = problems(&format!("{durable}type = \"key-file\"\n"));
    assert!(neither[0].contains("seal.type = \"shamir\""), "{neither:?}");
    let unknown = problems(&format!("{durable}type = \"transit\"\nkey_file = \"/k\"\n"));
    assert_eq!(unknown.len(), 1);
    assert!(
        unknown[0].contains("\"key-file\" or \"shamir\""),
        "{unknown:?}"
    );
}

#[test]
fn a_first_start_from_a_file_needs_a_key_file_and_leaves_no_root_token_to_choose() {
    let file = "[bootstrap]\nfile = \"/installation.toml\"\n";
    let with_key = format!("[storage]\ntype = \"memory\"\n[seal]\nkey_file = \"/k\"\n{file}");
    Settings::from_text(&with_key, none(), none()).unwrap();
    let shares = problems(&format!("{COMPLETE}\n[seal]\ntype = \"shamir\"\n{file}"));
    let needs_key = "bootstrap.file: needs seal.key_file";
    assert!(
        shares.iter().any(|it| it.starts_with(needs_key)),
        "{shares:?}"
    );
    let hash = "0f".repeat(32);
    let both = problems(&format!("{with_key}root_token_hash = \"sha256:{hash}\"\n"));
    assert_eq!(both.len(), 1, "{both:?}");
    assert!(
        both[0].starts_with("bootstrap.root_token_hash: set together"),
        "{both:?}"
    );
}

#[test]
fn k2_the_key_file_is_kept_outside_the_directory_of_the_store() {
    let file =
        "[storage]\npath = \"/var/lib/gatehouse\"\n[seal]\nkey_file = \"/var/lib/gatehouse/key\"\n";
    let found = problems(file);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("seal.key_file: inside storage.path"),
        "{found:?}"
    );
}

#[test]
fn k9_the_witness_is_kept_outside_the_directory_of_the_store() {
    let durable = |witness: &str| {
        format!(
            "[storage]\npath = \"/var/lib/gatehouse\"\n[seal]\nkey_file = \"/k\"\nwitness = {witness:?}\n"
        )
    };
    let found = problems(&durable("/var/lib/gatehouse/witness"));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("seal.witness: inside storage.path"),
        "{found:?}"
    );
    let apart = durable("/etc/gatehouse/witness");
    let settings = Settings::from_text(&apart, none(), none()).unwrap();
    assert_eq!(
        settings.seal.witness.unwrap().to_str(),
        Some("/etc/gatehouse/witness")
    );
    let found = problems("[storage]\ntype = \"memory\"\n[seal]\nwitness = \"/w\"\n");
    assert!(found[0].starts_with("seal.witness: not used"), "{found:?}");
}

#[test]
fn half_of_a_tls_pair_is_refused() {
    let found = problems("[storage]\ntype = \"memory\"\n[listener]\ntls_cert_file = \"/c\"\n");
    assert!(
        found[0].starts_with("listener.tls_key_file: missing"),
        "{found:?}"
    );
}

#[test]
fn text_that_is_not_toml_is_refused_with_its_place() {
    let found = problems("[listener\n");
    assert!(
        found[0].starts_with("configuration file: not valid TOML"),
        "{found:?}"
    );
    assert!(found[0].contains("line 1"), "{found:?}");
}

#[test]
fn a_missing_file_is_named() {
    let error = Settings::load(Path::new("/nowhere/gatehouse.toml"), none(), none()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("/nowhere/gatehouse.toml: cannot be read")
    );
}

#[test]
fn components_are_told_the_google_overrides_and_nothing_about_the_host() {
    let file = r#"
        [storage]
        type = "memory"
        [google]
        token_url = "https://oauth.example.com/token"
        allowed_hosts = ["private.example.com", "*.example.net:8443"]
        allow_http_loopback = true
        [organizations]
        edition = "self-hosted"
    "#;
    let settings = Settings::from_text(file, none(), none()).unwrap();
    let environment = settings.environment_for_components(HERE.parse().unwrap());
    let value = |name: &str| {
        let found = environment.iter().find(|(candidate, _)| candidate == name);
        found.map(|(_, value)| value.as_str())
    };
    assert_eq!(value("GATEHOUSE_EDITION"), Some("self-hosted"));
    assert_eq!(
        value("GATEHOUSE_GOOGLE_TOKEN_URL"),
        Some("https://oauth.example.com/token")
    );
    assert_eq!(
        value("GATEHOUSE_GOOGLE_ALLOWED_HOSTS"),
        Some("private.example.com,*.example.net:8443,oauth.example.com")
    );
    assert_eq!(value("GATEHOUSE_GOOGLE_ALLOW_HTTP_LOOPBACK"), Some("true"));
    assert_eq!(value("GATEHOUSE_GOOGLE_STS_URL"), None);
    assert!(
        environment
            .iter()
            .all(|(name, _)| !name.contains("SEAL") && !name.contains("STORAGE"))
    );
}

mod audit;
mod surroundings;

#[test]
fn problems_of_the_file_are_told_with_their_lines_and_those_of_flags_without() {
    let text = "[storage]\ntype = \"memory\"\nurl = \"\"\n\n[listener]\nadress = \"x\"\ntls_cert_file = \"/c\"\n\
                body_limit = 0\n[lisener]\n[limits]\nheader_bytes = 10\ntarget_bytes = 20\n";
    let flags = pairs(&[("listener.trusted_proxies", "nowhere")]);
    let refused = Settings::from_text(text, none(), flags).unwrap_err();
    let shown = refused.to_string();
    for line in [
        "  line 3: storage.url: expected",
        "  line 6: listener.adress: unknown setting",
        "  line 8: listener.body_limit: expected",
        "  line 9: [lisener]: there is no such section",
        "  line 12: limits.target_bytes: larger than",
        "  listener.tls_key_file: missing",
        "  listener.trusted_proxies: expected",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}
