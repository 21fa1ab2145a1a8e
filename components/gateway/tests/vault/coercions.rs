//! The fields of the method in three spellings: typed JSON, all strings, and a form (contract 1.4).

use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::server::{ROOT, Server, request};

const TYPED: &str = r#"{"type":"iam","bound_service_accounts":["a@p.iam.gserviceaccount.com",112233445566778899001],
 "bound_projects":["p1","p2"],"add_group_aliases":true,"max_jwt_exp":600,"allow_gce_inference":false,
 "token_ttl":1800,"token_max_ttl":3600,"token_explicit_max_ttl":7200,"token_period":0,
 "token_policies":["b","a"],"token_bound_cidrs":["192.0.2.0/24","198.51.100.1/32"],
 "token_no_default_policy":true,"token_num_uses":3,"token_type":"service"}"#;

const STRINGS: &str = r#"{"type":"iam","bound_service_accounts":"a@p.iam.gserviceaccount.com, 112233445566778899001",
 "bound_projects":"p2,p1","add_group_aliases":"true","max_jwt_exp":"10m","allow_gce_inference":"F",
 "token_ttl":"30m","token_max_ttl":"1h0m0s","token_explicit_max_ttl":"7200","token_period":"",
 "token_policies":"b,a","token_bound_cidrs":"192.0.2.0/24,198.51.100.1",
 "token_no_default_policy":"1","token_num_uses":"3","token_type":"service"}"#;

const FORM: &str = "type=iam&bound_service_accounts=a%40p.iam.gserviceaccount.com&bound_service_accounts=112233445566778899001\
 &bound_projects=p1%2Cp2&add_group_aliases=T&max_jwt_exp=600s&allow_gce_inference=0\
 &token_ttl=0.5h&token_max_ttl=3600&token_explicit_max_ttl=2h&token_period=0\
 &token_policies=b&token_policies=a&token_bound_cidrs=192.0.2.0/24,198.51.100.1/32\
 &token_no_default_policy=true&token_num_uses=3&token_type=service";

fn expected() -> Value {
    json!({
        "add_group_aliases": true,
        "allow_gce_inference": false,
        "bound_projects": ["p1", "p2"],
        "bound_service_accounts": ["112233445566778899001", "a@p.iam.gserviceaccount.com"],
        "max_jwt_exp": 600,
        "token_bound_cidrs": ["192.0.2.0/24", "198.51.100.1"],
        "token_explicit_max_ttl": 7200,
        "token_max_ttl": 3600,
        "token_no_default_policy": true,
        "token_num_uses": 3,
        "token_period": 0,
        "token_policies": ["b", "a"],
        "token_ttl": 1800,
        "token_type": "service",
        "type": "iam",
    })
}

#[test]
fn a_role_means_the_same_in_all_three_spellings() {
    for (content_type, body) in [
        ("application/json", TYPED),
        ("", STRINGS),
        ("application/x-www-form-urlencoded", FORM),
    ] {
        let server = Server::with_method();
        let mut request = request(Method::Put, "auth/gcp/role/r", &body.replace("\n ", ""));
        request.headers.push("x-vault-token", ROOT);
        if !content_type.is_empty() {
            request.headers.push("content-type", content_type);
        }
        server.handle(&request).expect(200);
        let mut role = server.get("auth/gcp/role/r").expect(200).data();
        let id = role.as_object_mut().unwrap().remove("role_id").unwrap();
        assert_eq!(id.as_str().unwrap().len(), 36);
        assert_eq!(role, expected(), "{content_type}");
    }
}

#[test]
fn config_means_the_same_in_all_three_spellings() {
    let spellings = [
        (
            "application/json",
            r#"{"iam_alias":"unique_id","iam_metadata":["role","project_id"],"custom_endpoint":{"api":"https://a.googleapis.com","iam":"https://b.googleapis.com"}}"#,
        ),
        (
            "",
            r#"{"iam_alias":"unique_id","iam_metadata":"project_id,role","custom_endpoint":["api=https://a.googleapis.com","iam=https://b.googleapis.com"]}"#,
        ),
        (
            "application/x-www-form-urlencoded",
            "iam_alias=unique_id&iam_metadata=role&iam_metadata=project_id&custom_endpoint=api%3Dhttps://a.googleapis.com",
        ),
    ];
    for (content_type, body) in spellings {
        let server = Server::with_method();
        let mut request = request(Method::Post, "auth/gcp/config", body);
        request.headers.push("x-vault-token", ROOT);
        request.headers.push("content-type", content_type);
        server.handle(&request).expect(204);
        let config = server.get("auth/gcp/config").expect(200).data();
        assert_eq!(config["iam_alias"], "unique_id");
        assert_eq!(config["iam_metadata"], json!(["project_id", "role"]));
        assert_eq!(config["custom_endpoint"]["api"], "https://a.googleapis.com");
    }
}

#[test]
fn null_is_absent_for_every_field() {
    let server = Server::with_role();
    let before = server.get("auth/gcp/role/dev").data();
    let fields = before
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| *key != "role_id");
    let nulls: serde_json::Map<String, Value> =
        fields.map(|key| (key.clone(), Value::Null)).collect();
    let body = Value::Object(nulls).to_string();
    server.post("auth/gcp/role/dev", &body).expect(200);
    assert_eq!(server.get("auth/gcp/role/dev").data(), before);
    let config = server.get("auth/gcp/config").data();
    let nulls = r#"{"credentials":null,"iam_alias":null,"gce_alias":null,"iam_metadata":null,"gce_metadata":null,"custom_endpoint":null}"#;
    server.post("auth/gcp/config", nulls).expect(204);
    assert_eq!(server.get("auth/gcp/config").data(), config);
}

#[test]
fn what_does_not_convert_is_refused_and_nothing_is_stored() {
    let server = Server::with_role();
    let before = server.commits();
    for (field, value, reason) in [
        ("token_ttl", json!("abc"), "time: invalid duration \"abc\""),
        ("token_ttl", json!(-1), "cannot provide negative value '-1'"),
        (
            "token_max_ttl",
            json!(true),
            "could not parse duration from input",
        ),
        (
            "token_period",
            json!([1]),
            "could not parse duration from input",
        ),
        ("ttl", json!("-5s"), "cannot provide negative value '-5s'"),
        (
            "max_jwt_exp",
            json!("1.5"),
            "time: missing unit in duration \"1.5\"",
        ),
        ("type", json!(["iam"]), "expected a string, got a list"),
        ("project_id", json!({}), "expected a string, got an object"),
        (
            "bound_projects",
            json!({}),
            "expected a list, got an object",
        ),
        (
            "token_policies",
            json!([[]]),
            "expected a list of strings, got a list",
        ),
        (
            "add_group_aliases",
            json!("maybe"),
            "cannot parse as bool: strconv.ParseBool: parsing \"maybe\": invalid syntax",
        ),
        (
            "token_num_uses",
            json!("many"),
            "cannot parse as int: strconv.ParseInt: parsing \"many\": invalid syntax",
        ),
    ] {
        let answer = server.post("auth/gcp/role/dev", &json!({ field: value }).to_string());
        let text = format!(
            "Field validation failed: error converting input for field \"{field}\": {reason}"
        );
        answer.refused(400, &text);
    }
    let long = json!({"credentials": {"private_key": "secret"}}).to_string();
    let refused = server.post("auth/gcp/config", &long).expect(400);
    assert!(!refused.text().contains("secret"));
    assert_eq!(server.commits(), before);
}
