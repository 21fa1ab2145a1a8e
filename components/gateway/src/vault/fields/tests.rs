use super::*;
use crate::http::Method;

fn request(content_type: &str, body: &str) -> Request {
    let mut request = Request::new(Method::Post, "/v1/x");
    if !content_type.is_empty() {
        request.headers.push("content-type", content_type);
    }
    request.body = body.as_bytes().to_vec();
    request
}

/// Field `f` of a JSON body, converted, as debug text, or the reason why not.
fn converted<T: std::fmt::Debug>(
    value: &str,
    convert: fn(&Fields<'_>) -> Result<Option<T>, ConversionError>,
) -> String {
    let request = request("", &format!("{{\"f\":{value}}}"));
    let fields = Fields::of_body(&request).unwrap();
    match convert(&fields) {
        Ok(Some(value)) => format!("{value:?}"),
        Ok(None) => "absent".to_owned(),
        Err(error) => error.reason.to_string(),
    }
}

#[test]
fn strings_take_text_numbers_and_booleans() {
    for (value, expected) in [
        (r#""a b""#, r#""a b""#),
        (r#""a\u00e9\n""#, r#""aé\n""#),
        ("112233445566778899001", r#""112233445566778899001""#),
        ("1.50", r#""1.50""#),
        ("true", r#""1""#),
        ("false", r#""0""#),
        ("null", "absent"),
        (r#"["a"]"#, "expected a string, got a list"),
        ("{}", "expected a string, got an object"),
        (
            r#""\ud800""#,
            "text contains an escape that is no character",
        ),
    ] {
        assert_eq!(
            converted(value, |fields| fields.string("f")),
            expected,
            "{value}"
        );
    }
}

#[test]
fn booleans_take_every_go_spelling() {
    for (value, expected) in [
        ("true", "true"),
        ("0", "false"),
        ("0.0", "false"),
        ("2", "true"),
        (r#""""#, "false"),
        ("null", "absent"),
        ("[]", "expected a boolean, got a list"),
        (
            r#""yes""#,
            "cannot parse as bool: strconv.ParseBool: parsing \"yes\": invalid syntax",
        ),
    ] {
        assert_eq!(
            converted(value, |fields| fields.boolean("f")),
            expected,
            "{value}"
        );
    }
    for (spellings, expected) in [
        (["1", "t", "T", "TRUE", "true", "True"], "true"),
        (["0", "f", "F", "FALSE", "false", "False"], "false"),
    ] {
        for spelling in spellings {
            let value = format!("\"{spelling}\"");
            assert_eq!(converted(&value, |fields| fields.boolean("f")), expected);
        }
    }
}

#[test]
fn integers_take_numbers_cut_floats_text_and_booleans() {
    for (value, expected) in [
        ("5", "5"),
        ("-5", "-5"),
        ("5.9", "5"),
        ("-5.9", "-5"),
        ("1e3", "1000"),
        (r#""42""#, "42"),
        (r#""-42""#, "-42"),
        (r#""0x1F""#, "31"),
        (r#""010""#, "8"),
        (r#""0""#, "0"),
        (r#""""#, "0"),
        ("true", "1"),
        ("null", "absent"),
        (
            r#""4.2""#,
            "cannot parse as int: strconv.ParseInt: parsing \"4.2\": invalid syntax",
        ),
        (
            r#""x""#,
            "cannot parse as int: strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            "9223372036854775808",
            "cannot parse as int: strconv.ParseInt: parsing \"9223372036854775808\": value out of range",
        ),
        ("{}", "expected an integer, got an object"),
    ] {
        assert_eq!(
            converted(value, |fields| fields.integer("f")),
            expected,
            "{value}"
        );
    }
}

#[test]
fn durations_take_seconds_and_go_notation_and_refuse_negatives() {
    for (value, expected) in [
        ("3600", "3600"),
        ("1.9", "1"),
        (r#""3600""#, "3600"),
        (r#""1h30m""#, "5400"),
        (r#""1.5h""#, "5400"),
        (r#""2d""#, "172800"),
        (r#""""#, "0"),
        ("null", "absent"),
        ("-1", "cannot provide negative value '-1'"),
        (r#""-1""#, "cannot provide negative value '-1'"),
        (r#""-1h""#, "cannot provide negative value '-3600'"),
        (r#""abc""#, "time: invalid duration \"abc\""),
        ("1e300", "time: unknown unit \"e\" in duration \"1e300\""),
        ("true", "could not parse duration from input"),
        ("[1]", "could not parse duration from input"),
    ] {
        assert_eq!(
            converted(value, |fields| fields.duration("f")),
            expected,
            "{value}"
        );
    }
    assert_eq!(converted("-1", |fields| fields.signed_duration("f")), "-1");
}

#[test]
fn lists_take_lists_comma_text_and_a_number() {
    for (value, expected) in [
        (r#"["a"," b ","c,d"]"#, r#"["a", "b", "c,d"]"#),
        (
            r#"[112233445566778899001,true,"x"]"#,
            r#"["112233445566778899001", "1", "x"]"#,
        ),
        (r#""a, b,,c""#, r#"["a", "b", "", "c"]"#),
        (r#""""#, "[]"),
        (r#"" ""#, r#"[""]"#),
        ("[]", "[]"),
        ("112233445566778899001", r#"["112233445566778899001"]"#),
        ("null", "absent"),
        ("true", "expected a list, got a boolean"),
        ("{}", "expected a list, got an object"),
        (r#"["a",["b"]]"#, "expected a list of strings, got a list"),
        (r#"["a",null]"#, "expected a list of strings, got null"),
    ] {
        assert_eq!(
            converted(value, |fields| fields.list("f")),
            expected,
            "{value}"
        );
    }
    assert_eq!(
        converted(r#""a,b""#, |fields| fields.unsplit_list("f")),
        r#"["a,b"]"#
    );
}

#[test]
fn maps_take_objects_and_pairs() {
    for (value, expected) in [
        (
            r#"{"a":"1","b":2,"c":true,"d":null}"#,
            r#"[("a", "1"), ("b", "2"), ("c", "1")]"#,
        ),
        (r#"["a=1","b=x=y"]"#, r#"[("a", "1"), ("b", "x=y")]"#),
        (r#""a=1,b=2""#, r#"[("a", "1,b=2")]"#),
        ("{}", "[]"),
        ("null", "absent"),
        (r#""a""#, "invalid key pair \"a\""),
        (r#""=a""#, "invalid key pair \"=a\""),
        (r#"{"a":[]}"#, "expected a string, got a list"),
        ("1", "expected an object of strings, got a number"),
    ] {
        assert_eq!(
            converted(value, |fields| fields.map("f")),
            expected,
            "{value}"
        );
    }
}

#[test]
fn labels_take_lists_and_objects() {
    for (value, expected) in [
        (r#"["a:1","b:"]"#, r#"["a:1", "b:"]"#),
        (r#""a:1,b:2""#, r#"["a:1", "b:2"]"#),
        (r#"{"a":"1","b":2,"c":null}"#, r#"["a:1", "b:2", "c:"]"#),
        ("1.5", r#"["1.5"]"#),
    ] {
        assert_eq!(
            converted(value, |fields| fields.labels("f")),
            expected,
            "{value}"
        );
    }
}

#[test]
fn an_error_names_the_field_in_the_text_that_clients_know() {
    let request = request("", r#"{"ttl":"abc"}"#);
    let fields = Fields::of_body(&request).unwrap();
    assert_eq!(
        fields.duration("ttl").unwrap_err().to_string(),
        r#"Field validation failed: error converting input for field "ttl": time: invalid duration "abc""#
    );
}

#[test]
fn long_values_are_not_repeated() {
    let long = format!("\"{}\"", "secret".repeat(20));
    for reason in [
        converted(&long, |fields| fields.boolean("f")),
        converted(&long, |fields| fields.integer("f")),
        converted(&long, |fields| fields.duration("f")),
        converted(&long, |fields| fields.map("f")),
    ] {
        assert!(!reason.contains("secret"), "{reason}");
    }
}

#[test]
fn forms_join_repeated_names_by_commas() {
    let request = request(
        "application/x-www-form-urlencoded",
        "f=a&g=1h&f=b+c%2Cd&g2=",
    );
    let fields = Fields::of_body(&request).unwrap();
    assert_eq!(fields.list("f").unwrap().unwrap(), ["a", "b c", "d"]);
    assert_eq!(fields.duration("g").unwrap(), Some(3600));
    assert_eq!(fields.string("g2").unwrap().as_deref(), Some(""));
    assert_eq!(fields.expecting(vec!["f"]).unknown(), ["g", "g2"]);
}

#[test]
fn json_under_the_type_of_forms_is_json() {
    let request = request("application/x-www-form-urlencoded", " {\"f\":1}");
    let fields = Fields::of_body(&request).unwrap();
    assert_eq!(fields.integer("f").unwrap(), Some(1));
}

#[test]
fn objects_within_bodies_have_fields_of_their_own() {
    let request = request(
        "",
        r#"{"config":{"default_lease_ttl":"0s","options":null}}"#,
    );
    let fields = Fields::of_body(&request).unwrap();
    let inner = fields.object("config").unwrap().unwrap();
    assert_eq!(inner.duration("default_lease_ttl").unwrap(), Some(0));
    assert!(!inner.has("options"));
    assert!(fields.object("absent").unwrap().is_none());
}

#[test]
fn h10_encoded_and_multipart_bodies_are_refused() {
    let multipart = request("multipart/form-data; boundary=x", "--x--");
    let refused = Fields::of_body(&multipart);
    assert_eq!(refused.err(), Some(ContentError::Multipart));
    let mut encoded = request("application/json", "{}");
    encoded.headers.push("Content-Encoding", "gzip");
    let refused = Fields::of_body(&encoded);
    assert_eq!(refused.err(), Some(ContentError::Encoded));
}

#[test]
fn a4_a_list_that_binds_is_never_one_of_blanks() {
    let refused = "the list holds only blanks; name what it is to hold, or send [] for none";
    for (value, expected) in [
        (r#"[""]"#, refused),
        (r#"[" ","\t"]"#, refused),
        (r#"" ""#, refused),
        (r#"",""#, refused),
        (r#""""#, "[]"),
        ("[]", "[]"),
        (r#"["","a"]"#, r#"["", "a"]"#),
    ] {
        let found = converted(value, |fields| fields.bounding_list("f"));
        assert_eq!(found, expected, "{value}");
    }
    for (value, expected) in [
        (r#"" ""#, refused),
        (r#""""#, r#""""#),
        (r#""a""#, r#""a""#),
    ] {
        let found = converted(value, |fields| fields.bound("f"));
        assert_eq!(found, expected, "{value}");
    }
}
