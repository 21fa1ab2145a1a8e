//! Policy texts, in HCL and in JSON.
//!
//! The first byte selects the meaning of the rest: a whole text, or a path that stands in a text of each language. Properties (SEC-A1,
//! V1): nothing panics or takes long; an empty line or a comment at an end changes no verdict; and both languages judge a path alike.

#![no_main]

use gatehouse_access::check_policy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, input)) = input.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if choice % 2 == 0 {
        whole(text);
    } else {
        path(text);
    }
});

fn is_policy(text: &str) -> bool {
    check_policy(text).is_ok()
}

fn whole(text: &str) {
    let verdict = is_policy(text);
    assert_eq!(is_policy(&format!("\n{text}")), verdict, "a line before");
    assert_eq!(is_policy(&format!("{text}\n")), verdict, "a line after");
    if verdict && !text.trim_start().starts_with('{') {
        let commented = format!("# \"{{\n{text}\n// \"{{");
        assert!(is_policy(&commented), "comments around");
    }
}

/// Characters that the languages read in different ways are left out, so that the text between the quotes means the same. In HCL a
/// string continues until every `${` in it is closed.
fn path(text: &str) {
    let path: String = text
        .chars()
        .filter(|letter| !letter.is_control() && !matches!(letter, '"' | '\\' | '$'))
        .collect();
    for capability in ["read", "deny", "write"] {
        let hcl = format!("path \"{path}\" {{ capabilities = [\"{capability}\"] }}");
        let json = format!("{{\"path\":{{\"{path}\":{{\"capabilities\":[\"{capability}\"]}}}}}}");
        assert_eq!(is_policy(&hcl), is_policy(&json), "{path:?}");
    }
}
