//! Tokens that are not what they should be: contract 4.2, step 5; SEC-J1 to J11, J18.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use gatehouse_auth_method::{JwtError, LoginError};
use serde_json::{Value, json};

use crate::keys::{self, Token, compact_parts, sign};
use crate::stage::{NOW, Stage};

fn assert_refused(stage: &Stage, jwt: &str, flaw: JwtError) {
    assert_eq!(
        stage.refuse(jwt),
        (LoginError::MalformedJwt(flaw), 0),
        "{jwt}"
    );
}

fn claims() -> String {
    Token::of_account().claims.to_string()
}

fn header() -> String {
    Token::of_account().header.to_string()
}

#[test]
fn j2_j4_only_three_non_empty_parts_are_a_token() {
    let stage = Stage::ready();
    let jwt = Token::of_account().signed_by(keys::of_account());
    let input = Token::of_account().signing_input();
    for malformed in [
        "x",
        ".",
        "..",
        "a.b",
        "a..b",
        ".a.b",
        "a.b.",
        " ",
        "a.b.c.d",
        &format!("{input}."),
        &format!("{input}.."),
        &format!("{jwt}."),
        &format!(".{jwt}"),
        &format!("{jwt}.a.b"),
        &input,
    ] {
        assert_refused(&stage, malformed, JwtError::NotThreeParts);
    }
    let json_form = r#"{"payload":"e30","protected":"e30","signature":"AA"}"#;
    assert_refused(&stage, json_form, JwtError::NotThreeParts);
}

#[test]
fn j5_encoding_is_strict() {
    let stage = Stage::ready();
    let jwt = Token::of_account().signed_by(keys::of_account());
    let parts: Vec<&str> = jwt.split('.').collect();
    let [head, body, signature] = parts[..] else {
        panic!("three parts");
    };
    for malformed in [
        format!("{head}=.{body}.{signature}"),
        format!("{head}.{body}==.{signature}"),
        format!("{head}.{body}.{signature}=="),
        format!("{head}.{body} .{signature}"),
        format!("{jwt}\n"),
        format!("{jwt} "),
        format!(" {jwt}"),
        format!("{head}.{body}.{}\n{}", &signature[..9], &signature[9..]),
        format!("{head}.{body}.{}+", &signature[..signature.len() - 1]),
        format!("{head}.{body}.A"),
        format!("{head}.{body}.é"),
    ] {
        assert_refused(&stage, &malformed, JwtError::NotBase64Url);
    }
    // 256 bytes end in two characters with four unused bits.
    let (but_last, last) = signature.split_at(signature.len() - 1);
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let place = alphabet
        .iter()
        .position(|byte| *byte == last.as_bytes()[0])
        .unwrap();
    let other = char::from(alphabet[place + 1]);
    let trailing_bit = format!("{head}.{body}.{but_last}{other}");
    assert_refused(&stage, &trailing_bit, JwtError::NotBase64Url);
    let standard = STANDARD_NO_PAD.encode(b"\xfb\xff\xfe");
    assert_refused(
        &stage,
        &format!("{head}.{body}.{standard}"),
        JwtError::NotBase64Url,
    );
}

#[test]
fn j6_header_and_claims_must_be_unambiguous_objects() {
    let stage = Stage::ready();
    let account = keys::of_account();
    for claims in [
        "",
        "[]",
        "null",
        "7",
        "{",
        r#"{"sub":"a","sub":"a"}"#,
        r#"{"x":{"a":1,"a":2}}"#,
        &format!("{} {{}}", claims()),
        &format!("\u{feff}{}", claims()),
        r#"{"exp":1e400}"#,
        r#"{"sub":"\ud800"}"#,
        &format!("{{\"exp\":{}}}", "9".repeat(5000)),
    ] {
        if claims.is_empty() {
            continue;
        }
        let jwt = sign(&compact_parts(&header(), claims), account);
        assert_refused(&stage, &jwt, JwtError::Claims);
    }
    for header in [
        "[]",
        "null",
        r#""RS256""#,
        r#"{"alg":"RS256","alg":"RS256","kid":"account-key"}"#,
        r#"{"alg":"RS256","kid":"account-key","kid":"x"}"#,
        r#"{"alg":"none","alg":"RS256","kid":"account-key"}"#,
    ] {
        let jwt = sign(&compact_parts(header, &claims()), account);
        assert_refused(&stage, &jwt, JwtError::Header);
    }
    let invalid_utf8 = URL_SAFE_NO_PAD.encode(b"{\"sub\":\"\xff\"}");
    let head = URL_SAFE_NO_PAD.encode(header());
    let jwt = sign(&format!("{head}.{invalid_utf8}"), account);
    assert_refused(&stage, &jwt, JwtError::Claims);
}

#[test]
fn j6_unknown_claims_are_ignored_and_names_are_case_sensitive() {
    let stage = Stage::ready();
    let token = Token::of_account()
        .claim("Exp", 1)
        .claim("ext", json!({"deep": [1, [2]]}));
    assert!(stage.log_in(&token.signed_by(keys::of_account())).is_ok());
    let token = Token::of_account()
        .claim("exp", Value::Null)
        .claim("EXP", NOW + 600);
    let jwt = token.signed_by(keys::of_account());
    assert_eq!(stage.refuse(&jwt), (LoginError::Expired, 0));
}

#[test]
fn j7_size_and_depth_are_bounded_before_anything_is_decoded() {
    let stage = Stage::ready();
    for length in [16 * 1024 + 1, 1024 * 1024] {
        assert_refused(&stage, &"a".repeat(length), JwtError::TooLong);
    }
    assert_refused(&stage, &"a".repeat(16 * 1024), JwtError::NotThreeParts);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(16), "]".repeat(16));
    let jwt = sign(&compact_parts(&header(), &deep), keys::of_account());
    assert_refused(&stage, &jwt, JwtError::TooComplex);
}

#[test]
fn j8_a_key_id_is_printable_and_short_and_never_becomes_part_of_a_url() {
    let stage = Stage::ready();
    for key_id in [
        json!(""),
        json!(7),
        json!(["a"]),
        Value::Null,
        json!("a".repeat(257)),
        json!("a\nb"),
        json!("a\0"),
        json!("\u{1b}[31m"),
        json!("é"),
        json!("a\r\nx: y"),
    ] {
        let jwt = Token::of_account()
            .header("kid", key_id)
            .signed_by(keys::of_account());
        assert_refused(&stage, &jwt, JwtError::KeyId);
    }
    for key_id in [
        "../../etc/passwd",
        "' OR 1=1 --",
        "https://evil.example/key",
        &"a".repeat(256),
    ] {
        let jwt = Token::of_account()
            .header("kid", key_id)
            .signed_by(keys::of_account());
        assert!(matches!(
            stage.log_in(&jwt),
            Err(LoginError::KeyNotFound(_))
        ));
    }
    let urls = stage.http.urls();
    assert!(
        urls.iter()
            .all(|url| !url.contains("etc") && !url.contains("evil") && !url.contains("aaaa"))
    );
}

#[test]
fn j9_keys_and_pointers_to_keys_in_the_header_are_ignored() {
    let stage = Stage::ready();
    for (name, value) in [
        ("jku", json!("https://evil.example/keys")),
        ("x5u", json!("https://evil.example/certificate")),
        ("jwk", json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"})),
        ("x5c", json!([keys::of_stranger().certificate])),
        ("x5t", json!("AAAA")),
    ] {
        let forged = Token::of_account().header(name, value.clone());
        let refused = stage
            .log_in(&forged.clone().signed_by(keys::of_stranger()))
            .unwrap_err();
        assert_eq!(refused, LoginError::SignatureInvalid, "{name}");
        assert!(stage.log_in(&forged.signed_by(keys::of_account())).is_ok());
    }
    assert!(stage.http.urls().iter().all(|url| !url.contains("evil")));
}

#[test]
fn j10_tokens_that_ask_for_extensions_are_refused() {
    let stage = Stage::ready();
    for (name, value) in [
        ("crit", json!(["exp"])),
        ("crit", json!([])),
        ("crit", json!("x")),
        ("crit", json!(["alg"])),
        ("b64", json!(false)),
        ("b64", json!(true)),
        ("zip", json!("DEF")),
    ] {
        let jwt = Token::of_account()
            .header(name, value)
            .signed_by(keys::of_account());
        assert_refused(&stage, &jwt, JwtError::Extension);
    }
}

#[test]
fn j11_a_type_must_be_jwt() {
    let stage = Stage::ready();
    for value in [json!("jwt"), json!("Jwt"), Value::Null] {
        let jwt = Token::of_account()
            .header("typ", value)
            .signed_by(keys::of_account());
        assert!(stage.log_in(&jwt).is_ok());
    }
    for value in [
        json!("at+jwt"),
        json!("secevent+jwt"),
        json!("JOSE"),
        json!(""),
        json!(1),
    ] {
        let jwt = Token::of_account()
            .header("typ", value)
            .signed_by(keys::of_account());
        assert_refused(&stage, &jwt, JwtError::Type);
    }
}

#[test]
fn j18_garbage_logins_cause_no_call_and_no_trap() {
    let stage = Stage::ready();
    let genuine = Token::of_account().signed_by(keys::of_account());
    let mut state = 42_u64;
    for _ in 0..10_000 {
        // Cheap randomness: each garbage token is the genuine one with one byte of header or claims changed.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let limit = genuine.rfind('.').unwrap();
        let place = usize::try_from(state >> 33).unwrap() % limit;
        let mut garbage = genuine.clone().into_bytes();
        garbage[place] = b'!';
        let garbage = String::from_utf8(garbage).unwrap();
        assert!(matches!(
            stage.log_in(&garbage),
            Err(LoginError::MalformedJwt(_))
        ));
    }
    assert!(stage.http.urls().is_empty());
}
