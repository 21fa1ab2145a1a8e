//! Sections that the operator names.

use super::*;

fn audit(sections: &str) -> String {
    format!("{COMPLETE}\n{sections}")
}

#[test]
fn l4_sinks_are_sections_with_names() {
    let text = audit(
        "[audit.main]\npath = \"/var/log/gatehouse/audit.log\"\ntimeout = \"2s\"\nsync = false\n\
         [audit.a-2]\ntype = \"stdout\"\nkey_file = \"/etc/gatehouse/audit.key\"\n",
    );
    let settings = Settings::from_text(&text, none(), none()).unwrap();
    let [second, main] = &settings.audit[..] else {
        panic!("{:?}", settings.audit)
    };
    assert_eq!((main.name.as_str(), second.name.as_str()), ("main", "a-2"));
    assert_eq!(
        (main.kind, second.kind),
        (AuditSinkType::File, AuditSinkType::Stdout)
    );
    assert_eq!((main.sync, second.sync), (false, true));
    assert_eq!(main.timeout, std::time::Duration::from_secs(2));
    let beside = Path::new("/var/log/gatehouse/main.hmac-key");
    assert_eq!(main.key_path().as_deref(), Some(beside));
    let own = Path::new("/etc/gatehouse/audit.key");
    assert_eq!(second.key_path().as_deref(), Some(own));
    let shown = settings.effective().iter();
    let shown: Vec<&str> = shown.map(|setting| setting.name.as_str()).collect();
    assert!(shown.contains(&"audit.main.path") && shown.contains(&"audit.a-2.type"));
    let none_set = Settings::from_text(COMPLETE, none(), none()).unwrap();
    assert_eq!(none_set.audit, []);
}

#[test]
fn l4_a_sink_is_made_by_the_file_alone() {
    let flag = pairs(&[("audit.new.path", "/tmp/x")]);
    let refused = Settings::from_text(COMPLETE, none(), flag).unwrap_err();
    assert!(refused.to_string().contains("audit.new.path"), "{refused}");
    let variable = pairs(&[("GATEHOUSE_AUDIT_NEW_PATH", "/tmp/x")]);
    let sinks = ["", "[audit.main]\npath = \"/a\"\n"];
    for text in sinks.map(audit) {
        let refused = Settings::from_text(&text, variable.clone(), none()).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("GATEHOUSE_AUDIT_NEW_PATH"), "{refused}");
        assert!(refused.contains("[audit.NAME]"), "{refused}");
    }
    let text = audit("[audit.main]\npath = \"/a\"\n");
    let flag = pairs(&[("audit.main.path", "/b")]);
    let settings = Settings::from_text(&text, none(), flag).unwrap();
    assert_eq!(settings.audit[0].path.as_deref(), Some(Path::new("/b")));
}

#[test]
fn mistakes_in_sinks_are_named() {
    for (sections, expected) in [
        ("[audit.main]\n", "audit.main.path: missing"),
        (
            "[audit.main]\ntype = \"syslog\"\npath = \"/a\"\n",
            "audit.main.type: expected \"file\" or \"stdout\"",
        ),
        (
            "[audit.main]\npath = \"/a\"\npaht = 1\n",
            "audit.main.paht: unknown setting; did you mean `audit.main.path`?",
        ),
        (
            "[audit.main]\ntype = \"stdout\"\npath = \"/a\"\n",
            "audit.main.path: standard output has no path",
        ),
        (
            "[audit]\npath = \"/a\"\n",
            "audit.path: settings of audit stand in a section with a name",
        ),
        ("[audit.\"a b\"]\npath = \"/a\"\n", "is made of letters"),
        (
            "[audit.a]\npath = \"/a\"\n[audit.b]\npath = \"/a\"\n",
            "audit.b.path: another sink writes to this file",
        ),
        (
            "[audit.a]\ntype = \"stdout\"\n[audit.b]\ntype = \"stdout\"\n",
            "audit.b.type: another sink writes to standard output",
        ),
        ("[[audit]]\npath = \"/a\"\n", "[audit.NAME]"),
    ] {
        let found = problems(&audit(sections));
        let [problem] = &found[..] else {
            panic!("{sections}: {found:?}")
        };
        assert!(problem.contains(expected), "{sections}: {problem}");
    }
}
