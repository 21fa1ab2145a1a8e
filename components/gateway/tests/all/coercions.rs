//! The fields of the method in three spellings: typed JSON, all strings, and a form (contract 1.4).

use gatehouse_auth_method::{RoleChanges, RoleWritten};
use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::rows::texts;
use super::server::{Answer, ROOT, Server, request};

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
            r#"{"iam_alias":"unique_id","iam_metadata":["role","project_id"],"custom_endpoint":{"api":"https://www.googleapis.com","iam":"https://iam.googleapis.com"}}"#,
        ),
        (
            "",
            r#"{"iam_alias":"unique_id","iam_metadata":"project_id,role","custom_endpoint":["api=https://www.googleapis.com","iam=https://iam.googleapis.com"]}"#,
        ),
        (
            "application/x-www-form-urlencoded",
            "iam_alias=unique_id&iam_metadata=role&iam_metadata=project_id&custom_endpoint=api%3Dhttps://www.googleapis.com",
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
        assert_eq!(
            config["custom_endpoint"]["api"],
            "https://www.googleapis.com"
        );
    }
}

/// The fields of a gce role, including those that the reference does not have.
const GCE_SPELLINGS: [(&str, &str); 4] = [
    (
        "application/json",
        r#"{"type":"gce","bound_zones":["b","a"],"bound_regions":["r"],"bound_instance_groups":["g"],"bound_labels":{"env":"prod","n":1},
            "bound_zone":"z","bound_region":"q","bound_instance_group":"h","bound_folders":["1",2],"bound_organizations":[3],
            "bound_audiences":["https://a.example"],"alias_source":"instance_id","refuse_replay":true,"live_checks":false,"max_instance_age":3600}"#,
    ),
    (
        "",
        r#"{"type":"gce","bound_zones":"b, a","bound_regions":"r","bound_instance_groups":"g","bound_labels":["env:prod","n:1"],
            "bound_zone":"z","bound_region":"q","bound_instance_group":"h","bound_folders":"1,2","bound_organizations":3,
            "bound_audiences":"https://a.example","alias_source":"instance_id","refuse_replay":"t","live_checks":"F","max_instance_age":"1h"}"#,
    ),
    (
        "",
        r#"{"type":"gce","bound_zones":"b,a","bound_regions":["r"],"bound_instance_groups":"g","bound_labels":"env:prod, n:1",
            "bound_zone":"z","bound_region":"q","bound_instance_group":"h","bound_folders":[1," 2 "],"bound_organizations":"3",
            "bound_audiences":["https://a.example"],"alias_source":"instance_id","refuse_replay":1,"live_checks":0,"max_instance_age":3600.9}"#,
    ),
    (
        "application/x-www-form-urlencoded",
        "type=gce&bound_zones=b&bound_zones=a&bound_regions=r&bound_instance_groups=g&bound_labels=env:prod&bound_labels=n%3A1&bound_zone=z&bound_region=q&bound_instance_group=h&bound_folders=1%2C2&bound_organizations=3&bound_audiences=https%3A//a.example&alias_source=instance_id&refuse_replay=True&live_checks=false&max_instance_age=60m",
    ),
];

#[test]
fn the_fields_of_a_gce_role_mean_the_same_in_every_spelling() {
    for (content_type, body) in GCE_SPELLINGS {
        let server = Server::with_method();
        server.script.role_write.is(Ok(RoleWritten {
            created: true,
            warnings: Vec::new(),
        }));
        put(&server, "auth/gcp/role/r", content_type, body).expect(200);
        let seen = server.script.role_changes.lock().unwrap();
        let text = |text: &str| Some(text.to_owned());
        let expected = RoleChanges {
            role_type: text("gce"),
            bound_zones: Some(texts(&["b", "a"])),
            bound_regions: Some(texts(&["r"])),
            bound_instance_groups: Some(texts(&["g"])),
            bound_labels: Some(texts(&["env:prod", "n:1"])),
            bound_zone: text("z"),
            bound_region: text("q"),
            bound_instance_group: text("h"),
            bound_folders: Some(texts(&["1", "2"])),
            bound_organizations: Some(texts(&["3"])),
            bound_audiences: Some(texts(&["https://a.example"])),
            alias_source: text("instance_id"),
            refuse_replay: Some(true),
            live_checks: Some(false),
            max_instance_age: Some(3600),
            ..RoleChanges::default()
        };
        assert_eq!(*seen, [expected], "{content_type} {body}");
    }
}

#[test]
fn root_credentials_and_rotation_mean_the_same_in_all_three_spellings() {
    for (content_type, body) in [
        (
            "application/json",
            r#"{"service_account_email":"a@p","identity_token_audience":"//iam.googleapis.com/x","identity_token_ttl":600,
                "rotation_schedule":"0 3 * * 6","rotation_period":86400,"rotation_window":3600,"rotation_policy":"p","disable_automated_rotation":true}"#,
        ),
        (
            "",
            r#"{"service_account_email":"a@p","identity_token_audience":"//iam.googleapis.com/x","identity_token_ttl":"10m",
                "rotation_schedule":"0 3 * * 6","rotation_period":"1d","rotation_window":"1h0m0s","rotation_policy":"p","disable_automated_rotation":"true"}"#,
        ),
        (
            "application/x-www-form-urlencoded",
            "service_account_email=a%40p&identity_token_audience=//iam.googleapis.com/x&identity_token_ttl=600&rotation_schedule=0+3+*+*+6&rotation_period=24h&rotation_window=3600s&rotation_policy=p&disable_automated_rotation=1",
        ),
    ] {
        let server = Server::with_method();
        server.script.config_write.is(Ok(Vec::new()));
        put(&server, "auth/gcp/config", content_type, body).expect(204);
        let seen = server.script.config_changes.lock().unwrap();
        let changes = seen.first().unwrap();
        assert_eq!(changes.service_account_email.as_deref(), Some("a@p"));
        let audience = changes.identity_token_audience.as_deref();
        assert_eq!(audience, Some("//iam.googleapis.com/x"));
        assert_eq!(changes.identity_token_ttl, Some(600));
        assert_eq!(changes.rotation_schedule.as_deref(), Some("0 3 * * 6"));
        assert_eq!(changes.rotation_period, Some(86_400));
        assert_eq!(changes.rotation_window, Some(3600));
        assert_eq!(changes.rotation_policy.as_deref(), Some("p"));
        assert_eq!(changes.disable_automated_rotation, Some(true));
        assert!(changes.credentials.is_none() && changes.custom_endpoint.is_none());
    }
}

fn put(server: &Server, target: &str, content_type: &str, body: &str) -> Answer {
    let mut request = request(Method::Put, target, body);
    request.headers.push("x-vault-token", ROOT);
    request.headers.push("content-type", content_type);
    server.handle(&request)
}

#[test]
fn d20_null_is_absent_for_every_field() {
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
    let nulls = r#"{"bound_folders":null,"bound_organizations":null,"bound_audiences":null,"alias_source":null,"refuse_replay":null,
        "live_checks":null,"max_instance_age":null,"bound_zones":null,"bound_labels":null}"#;
    server.post("auth/gcp/role/dev", nulls).expect(200);
    assert_eq!(server.get("auth/gcp/role/dev").data(), before);
    let config = server.get("auth/gcp/config").data();
    let nulls = r#"{"credentials":null,"iam_alias":null,"gce_alias":null,"iam_metadata":null,"gce_metadata":null,"custom_endpoint":null,
        "service_account_email":null,"identity_token_audience":null,"identity_token_ttl":null,"rotation_schedule":null,"rotation_period":null,
        "rotation_window":null,"rotation_policy":null,"disable_automated_rotation":null,"google_certs_endpoint":null}"#;
    server.post("auth/gcp/config", nulls).expect(204);
    assert_eq!(server.get("auth/gcp/config").data(), config);
}

#[test]
fn d20_an_endpoint_that_is_null_is_not_sent_and_so_not_cleared() {
    let server = Server::with_role();
    let write = |endpoints: Value| {
        let body = json!({ "custom_endpoint": endpoints }).to_string();
        server.post("auth/gcp/config", &body).expect(204);
        server.get("auth/gcp/config").data()["custom_endpoint"].clone()
    };
    let own =
        json!({"iam": "https://iam.googleapis.com", "crm": "cloudresourcemanager.googleapis.com"});
    assert_eq!(write(own.clone()), own);
    let kept = json!({"crm": "cloudresourcemanager.googleapis.com"});
    assert_eq!(write(json!({"iam": null, "api": null})), own);
    assert_eq!(write(json!({"iam": "", "crm": null})), kept);
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
        ("ttl", json!("-5s"), "cannot provide negative value '-5'"),
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
            "bound_labels",
            json!({"a": ["b"]}),
            "expected a string, got a list",
        ),
        ("bound_folders", json!({}), "expected a list, got an object"),
        (
            "live_checks",
            json!("maybe"),
            "cannot parse as bool: strconv.ParseBool: parsing \"maybe\": invalid syntax",
        ),
        ("refuse_replay", json!([]), "expected a boolean, got a list"),
        (
            "max_instance_age",
            json!("-1s"),
            "cannot provide negative value '-1'",
        ),
        (
            "alias_source",
            json!(["role_id"]),
            "expected a string, got a list",
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
    for (field, value, reason) in [
        (
            "identity_token_ttl",
            json!(-1),
            "cannot provide negative value '-1'",
        ),
        (
            "rotation_period",
            json!("soon"),
            "time: invalid duration \"soon\"",
        ),
        (
            "rotation_window",
            json!(true),
            "could not parse duration from input",
        ),
        (
            "rotation_schedule",
            json!(["0 0 * * *"]),
            "expected a string, got a list",
        ),
        (
            "disable_automated_rotation",
            json!("off"),
            "cannot parse as bool: strconv.ParseBool: parsing \"off\": invalid syntax",
        ),
    ] {
        let answer = server.post("auth/gcp/config", &json!({ field: value }).to_string());
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
