//! Settings from the surroundings of the server, and the part of them that components are told.

use std::path::PathBuf;

use super::*;

/// Settings whose section `[google]` has `google`, under `environment`.
fn google(google: &str, environment: &[(&str, &str)]) -> Settings {
    let text = format!("{COMPLETE}\n[google]\n{google}");
    Settings::from_text(&text, pairs(environment), none()).unwrap()
}

fn shown(settings: &Settings, name: &str) -> (Option<String>, Origin) {
    let found = settings
        .effective()
        .iter()
        .find(|setting| setting.name == name);
    let found = found.unwrap();
    (found.value.clone(), found.origin)
}

fn told(settings: &Settings, address: &str, name: &str) -> Option<String> {
    settings
        .environment_for_components(address.parse().unwrap())
        .into_iter()
        .find(|(candidate, _)| candidate == name)
        .map(|(_, value)| value)
}

/// A home directory with or without the file of `gcloud`.
fn home(with_file: bool) -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let file = home
        .path()
        .join(".config/gcloud/application_default_credentials.json");
    if with_file {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "{}").unwrap();
    }
    (home, file)
}

#[test]
fn credentials_come_from_the_setting_then_the_variable_then_the_file_of_gcloud() {
    const VARIABLE: (&str, &str) = ("GOOGLE_APPLICATION_CREDENTIALS", "/variable.json");
    let (home, of_gcloud) = home(true);
    let home = ("HOME", home.path().to_str().unwrap());
    let found = |setting: &str, environment: &[(&str, &str)]| {
        google(setting, environment).google.application_credentials
    };
    let setting = "application_credentials = \"/setting.json\"";
    assert_eq!(
        found(setting, &[VARIABLE, home]),
        Some(PathBuf::from("/setting.json"))
    );
    assert_eq!(
        found("", &[VARIABLE, home]),
        Some(PathBuf::from("/variable.json"))
    );
    assert_eq!(found("", &[home]), Some(of_gcloud.clone()));
    let empty = ("GOOGLE_APPLICATION_CREDENTIALS", "");
    assert_eq!(found("", &[empty, home]), Some(of_gcloud));
    assert_eq!(
        found("application_credentials = \"none\"", &[VARIABLE, home]),
        None
    );
}

#[test]
fn a_home_without_the_file_of_gcloud_and_no_home_have_no_credentials() {
    let (home, _) = home(false);
    let home = ("HOME", home.path().to_str().unwrap());
    for environment in [&[home][..], &[]] {
        let settings = google("", environment);
        assert_eq!(settings.google.application_credentials, None);
        assert_eq!(
            shown(&settings, "google.application_credentials"),
            (None, Origin::Default)
        );
    }
}

#[test]
fn o5_the_file_of_the_credentials_is_shown_and_components_are_not_told_of_it_by_settings() {
    let settings = google("", &[("GOOGLE_APPLICATION_CREDENTIALS", "/key.json")]);
    assert_eq!(
        shown(&settings, "google.application_credentials"),
        (Some("\"/key.json\"".to_owned()), Origin::Environment)
    );
    let name = "GATEHOUSE_GOOGLE_APPLICATION_CREDENTIALS";
    assert_eq!(told(&settings, HERE, name), None);
}

#[test]
fn the_metadata_server_is_googles_unless_somebody_names_another_or_none() {
    const VARIABLE: (&str, &str) = ("GCE_METADATA_HOST", "127.0.0.1:8080");
    let name = "GATEHOUSE_GOOGLE_METADATA_HOST";
    for (setting, environment, host, origin) in [
        ("", &[][..], Some("169.254.169.254"), Origin::Default),
        ("", &[VARIABLE], Some("127.0.0.1:8080"), Origin::Environment),
        (
            "metadata_host = \"metadata.example.com\"",
            &[VARIABLE],
            Some("metadata.example.com"),
            Origin::File,
        ),
        ("metadata_host = \"none\"", &[VARIABLE], None, Origin::File),
    ] {
        let settings = google(setting, environment);
        assert_eq!(settings.google.metadata_host.as_deref(), host);
        assert_eq!(told(&settings, HERE, name).as_deref(), host);
        let (value, found) = shown(&settings, "google.metadata_host");
        assert_eq!(value.unwrap().trim_matches('"'), host.unwrap_or("none"));
        assert_eq!(found, origin);
    }
}

#[test]
fn a_metadata_host_that_is_none_is_refused_wherever_it_is_named() {
    let found = problems_with(COMPLETE, pairs(&[("GCE_METADATA_HOST", "http://metadata")]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("google.metadata_host: "), "{found:?}");
    assert!(found[0].contains("GCE_METADATA_HOST"), "{found:?}");
}

#[test]
fn the_advertised_address_is_the_one_set_or_else_where_the_server_listens() {
    let name = "GATEHOUSE_ADVERTISED_ADDRESS";
    let listener = |keys: &str| {
        Settings::from_text(&format!("{COMPLETE}\n[listener]\n{keys}"), none(), none()).unwrap()
    };
    let plain = listener("");
    assert_eq!(
        told(&plain, "127.0.0.1:4711", name).as_deref(),
        Some("http://127.0.0.1:4711")
    );
    assert_eq!(
        told(&plain, "[::1]:4711", name).as_deref(),
        Some("http://[::1]:4711")
    );
    let tls = listener("tls_cert_file = \"/c\"\ntls_key_file = \"/k\"");
    assert_eq!(
        told(&tls, "192.0.2.1:8200", name).as_deref(),
        Some("https://192.0.2.1:8200")
    );
    for everywhere in ["0.0.0.0:8200", "[::]:8200"] {
        assert_eq!(told(&plain, everywhere, name), None);
    }
    let set = listener("advertised_address = \"https://Gatehouse.example.com:8200/\"");
    assert_eq!(
        told(&set, "0.0.0.0:8200", name).as_deref(),
        Some("https://gatehouse.example.com:8200")
    );
}

#[test]
fn an_advertised_address_is_scheme_host_and_port_alone() {
    for address in [
        "ftp://example.com",
        "https://example.com/path",
        "https://user@example.com",
        "https://example.com?query",
    ] {
        let found = problems(&format!(
            "{COMPLETE}\n[listener]\nadvertised_address = \"{address}\""
        ));
        assert_eq!(found.len(), 1, "{address}: {found:?}");
        assert!(
            found[0].starts_with("listener.advertised_address: "),
            "{found:?}"
        );
    }
}

#[test]
fn components_may_call_the_hosts_of_all_the_operators_urls() {
    let settings = google(
        "allowed_hosts = [\"*.example.net\"]\ntoken_url = \"https://a.example.com/token\"\n\
         sts_url = \"https://b.example.com/v1/token\"\niam_credentials_url = \"https://a.example.com/\"",
        &[],
    );
    assert_eq!(
        told(&settings, HERE, "GATEHOUSE_GOOGLE_ALLOWED_HOSTS").as_deref(),
        Some("*.example.net,a.example.com,b.example.com")
    );
}

#[test]
fn components_are_told_how_calls_are_signed() {
    let settings = google("user_agent = \"Mine/1\"", &[]);
    assert_eq!(
        told(&settings, HERE, "GATEHOUSE_GOOGLE_USER_AGENT").as_deref(),
        Some("Mine/1")
    );
}

#[test]
fn contract_6_2_components_are_told_the_kind_of_store_in_the_words_of_the_protocol() {
    for (section, kind) in [
        ("type = \"memory\"", "inmem"),
        ("path = \"/var/lib/gatehouse\"", "redb"),
    ] {
        let text = format!("[storage]\n{section}\n[seal]\nkey_file = \"/key\"");
        let settings = Settings::from_text(&text, none(), none()).unwrap();
        let found = told(&settings, HERE, "GATEHOUSE_STORE_TYPE");
        assert_eq!(found.as_deref(), Some(kind));
    }
    assert_eq!(StorageType::Postgresql.name_for_clients(), "postgresql");
}

#[test]
fn compatibility_switches_are_off_and_reach_components_by_name() {
    let name = "GATEHOUSE_COMPATIBILITY";
    let settings = Settings::from_text(COMPLETE, none(), none()).unwrap();
    assert_eq!(settings.compatibility, CompatibilitySettings::default());
    assert_eq!(told(&settings, HERE, name), None);

    let text = format!(
        "{COMPLETE}\n[compatibility]\nignore_issuer_and_beginning = true\nignore_allow_gce_inference = true\n\
         accept_missing_audience = false"
    );
    let environment = pairs(&[(
        "GATEHOUSE_COMPATIBILITY_BOUND_GOOGLE_SIGNED_LIFETIME",
        "true",
    )]);
    let settings = Settings::from_text(&text, environment, none()).unwrap();
    assert_eq!(
        told(&settings, HERE, name).as_deref(),
        Some("ignore-allow-gce-inference,bound-google-signed-lifetime,ignore-issuer-and-beginning")
    );
    let warned: Vec<&str> = settings
        .compatibility
        .switched_on
        .iter()
        .map(|switch| switch.gives_up)
        .collect();
    assert_eq!(warned.len(), 3);
    assert!(warned.iter().all(|text| !text.is_empty()));
}

#[test]
fn contract_1_4_and_1_9_the_organizations_api_is_lenient_about_types_and_limited() {
    let of = |text: &str| {
        let settings = Settings::from_text(&format!("{COMPLETE}\n{text}"), none(), none()).unwrap();
        ["GATEHOUSE_STRICT_MEDIA_TYPE", "GATEHOUSE_API_RATE_LIMITING"]
            .map(|name| told(&settings, HERE, name).unwrap())
    };
    assert_eq!(of(""), ["false", "true"]);
    let other = "[organizations]\nstrict_media_type = true\n[limits]\napi_rate_limiting = false";
    assert_eq!(of(other), ["true", "false"]);
}

#[test]
fn t12_quotas_reach_components_as_numbers_of_which_0_means_no_limit() {
    let of = |limits: &str| {
        let text = format!("{COMPLETE}\n[limits]\n{limits}");
        let settings = Settings::from_text(&text, none(), none()).unwrap();
        [
            "GATEHOUSE_LIVE_TOKENS_PER_MOUNT",
            "GATEHOUSE_LIVE_TOKENS_PER_ROLE",
            "GATEHOUSE_ENTITIES_PER_TOKEN_ROLE",
        ]
        .map(|name| told(&settings, HERE, name).unwrap())
    };
    assert_eq!(of(""), ["1000000", "0", "10000"]);
    let other =
        "live_tokens_per_mount = \"none\"\nlive_tokens_per_role = 7\nentities_per_token_role = 8";
    assert_eq!(of(other), ["0", "7", "8"]);
}

#[test]
fn background_work_is_every_minute_unless_switched_off() {
    let interval = |limits: &str| {
        let text = format!("{COMPLETE}\n[limits]\n{limits}");
        let settings = Settings::from_text(&text, none(), none()).unwrap();
        settings.limits.background_interval
    };
    let seconds = std::time::Duration::from_secs;
    assert_eq!(interval(""), Some(seconds(60)));
    assert_eq!(interval("background_interval = \"5m\""), Some(seconds(300)));
    assert_eq!(interval("background_interval = 0"), None);
}

#[test]
fn a8_the_hash_of_the_first_root_token_reaches_components_and_has_one_spelling() {
    const VARIABLE: &str = "GATEHOUSE_BOOTSTRAP_ROOT_TOKEN_HASH";
    let hash = format!("sha256:{}", "0f".repeat(32));
    let of = |text: &str| Settings::from_text(&format!("{COMPLETE}\n{text}"), none(), none());
    assert_eq!(told(&of("").unwrap(), HERE, VARIABLE), None);
    let settings = of(&format!("[bootstrap]\nroot_token_hash = \"{hash}\"")).unwrap();
    assert_eq!(told(&settings, HERE, VARIABLE), Some(hash));
    let refused = of("[bootstrap]\nroot_token_hash = \"password\"").unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("operator root-token"), "{text}");
    assert!(!text.contains("password"), "{text}");
}
