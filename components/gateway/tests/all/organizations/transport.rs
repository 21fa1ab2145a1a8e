//! The order of checks, unusual targets, and the form of all answers (contract 1.1, 1.4, 1.5, 1.10).

use super::*;

const LIST: &str = "/api/v2/organizations";
const ACME: &str = "/api/v2/organizations/acme";

/// A change in which one check and all later ones fail.
struct Wrong {
    target: &'static str,
    token: Option<&'static str>,
    media_type: Option<&'static str>,
    body: &'static str,
}

#[test]
fn contract_1_5_of_several_faults_the_first_in_order_is_told() {
    let world = hosted();
    world.create_named("acme");
    let before = world.store.values();
    let bad_attribute = r#"{"data":{"type":"organizations","attributes":{"email":7}}}"#;
    let bad_shape = r#"{"data":{"type":"teams","attributes":{"email":7}}}"#;
    let all_wrong = Wrong {
        target: "/api/v2/organizations/none/frob?include=frob",
        token: None,
        media_type: Some("text/plain"),
        body: "{",
    };
    let no_token = Wrong {
        target: "/api/v2/organizations/none?include=frob",
        ..all_wrong
    };
    let no_type = Wrong {
        token: Some(ROOT),
        ..no_token
    };
    let no_organization = Wrong {
        media_type: Some(JSON_API),
        ..no_type
    };
    let no_json = Wrong {
        target: ACME,
        ..no_organization
    };
    let no_document = Wrong {
        body: bad_shape,
        ..no_json
    };
    let no_attribute = Wrong {
        body: bad_attribute,
        ..no_json
    };
    for (wrong, status, title) in [
        (&all_wrong, 404, "not found"),
        (&no_token, 401, "unauthorized"),
        (&no_type, 415, "invalid content type"),
        (&no_organization, 404, "not found"),
        (&no_json, 400, "JSON body is invalid"),
        (&no_document, 422, "unprocessable entity"),
        (&no_attribute, 422, "invalid attribute"),
    ] {
        let sent = request(Method::Patch, wrong.target, wrong.token);
        let response = world.handle(&with_body(sent, wrong.media_type, wrong.body));
        assert_eq!(response.status, status, "{title}");
        let error = &body(&response)["errors"][0];
        assert_eq!(error["title"], title);
        assert_eq!(error["status"], status.to_string());
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_1_5_of_a_query_and_an_organization_the_organization_is_told_first() {
    let world = hosted();
    world.create_named("acme");
    for (token, target, status) in [
        (None, "/api/v2/organizations/none?include=frob", 401),
        (Some(ROOT), "/api/v2/organizations/none?include=frob", 404),
        (Some(ROOT), "/api/v2/organizations/acme?include=frob", 400),
        (None, "/api/v2/organizations?include=frob", 401),
        (Some(ROOT), "/api/v2/organizations?include=frob", 400),
    ] {
        let response = world.handle(&request(Method::Get, target, token));
        assert_eq!(response.status, status, "{target}");
    }
}

#[test]
fn contract_1_1_no_target_and_no_query_makes_the_server_fail() {
    const PIECES: [&str; 28] = [
        "api",
        "v2",
        "organizations",
        "acme",
        "ping",
        "entitlement-set",
        "entitlement-sets",
        ".well-known",
        "terraform.json",
        "relationships",
        "admin",
        "%",
        "%2",
        "%zz",
        "%00",
        "%2F",
        "%5c",
        "%2e%2e",
        "..",
        ".",
        "",
        " ",
        "é",
        "%C3%A9",
        "%ff",
        "a;b=c",
        "[x]",
        "%25",
    ];
    const QUERIES: [&str; 12] = [
        "",
        "include=",
        "include",
        "page[number]=%ff",
        "page[size]=-1&page[size]=7",
        "q=%",
        "&&&=&",
        "=",
        "q[name][]=a",
        "%5B%5D=%5B",
        "page%5Bnumber%5D=99999999999999999999",
        "include[]=frob",
    ];
    const METHODS: [Method; 9] = [
        Method::Get,
        Method::Head,
        Method::Post,
        Method::Put,
        Method::Patch,
        Method::Delete,
        Method::List,
        Method::Options,
        Method::Other,
    ];
    let world = hosted();
    // A pseudorandom sequence, which is the same in every run.
    let mut state = 0x2545_f491_u32;
    let mut pick = |from: usize| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        usize::try_from(state).unwrap() % from
    };
    for _ in 0..5000 {
        let depth = pick(6);
        let pieces: Vec<_> = (0..depth).map(|_| PIECES[pick(PIECES.len())]).collect();
        let start = ["/api/v2/", "/api/v2/organizations/", "/api/"][pick(3)];
        let target = format!(
            "{start}{}?{}",
            pieces.join("/"),
            QUERIES[pick(QUERIES.len())]
        );
        let token = [None, Some(ROOT)][pick(2)];
        let method = METHODS[pick(METHODS.len())];
        let response = world.handle(&request(method, &target, token));
        assert!(
            response.status < 500,
            "{method:?} {target}: {}",
            response.status
        );
        assert_eq!(response.header("tfp-api-version"), Some("2.6"), "{target}");
        assert_eq!(
            response.header("cache-control"),
            Some("no-store"),
            "{target}"
        );
        let has_body = !matches!(method, Method::Head) && response.status != 204;
        assert_eq!(!response.body.is_empty(), has_body, "{method:?} {target}");
        if response.status == 404 && has_body {
            assert_not_found(&response);
        }
    }
}

#[test]
fn contract_1_1_head_is_get_without_a_body() {
    let world = hosted();
    world.create_named("acme");
    for (target, status) in [
        (ACME, 200),
        (LIST, 200),
        ("/api/v2/ping", 204),
        ("/.well-known/terraform.json", 200),
        ("/api/v2/organizations/none", 404),
        ("/api/v2/frob", 404),
    ] {
        let response = world.send(Method::Head, target, None);
        let found = (response.status, response.body.len());
        assert_eq!(found, (status, 0), "{target}");
    }
}

#[test]
fn contract_1_1_brackets_may_be_encoded_repeated_and_joined() {
    let world = hosted();
    world.create_named("acme");
    let included = |query: &str| {
        let shown = world.get(&format!("{ACME}?{query}"));
        assert_eq!(shown.status, 200, "{query}");
        body(&shown)["included"].as_array().map(Vec::len)
    };
    for query in [
        "include=entitlement_set,default-project",
        "include=entitlement_set%2Cdefault_project",
        "include=entitlement_set&include=default-project",
        "include[]=entitlement_set&include%5B%5D=default-project",
    ] {
        assert_eq!(included(query), Some(2), "{query}");
    }
    assert_eq!(
        included("frob=1&fields[organizations]=name&sort=-name&[=]"),
        None
    );
    for query in [
        "page[number]=1&page[size]=1",
        "page%5Bnumber%5D=1&page%5bsize%5d=1",
    ] {
        let list = body(&world.get(&format!("{LIST}?{query}")));
        assert_eq!(list["meta"]["pagination"]["page-size"], 1, "{query}");
    }
}

#[test]
fn contract_1_4_delete_ignores_its_body_and_answers_without_one() {
    let world = hosted();
    for sent in ["null", "{}", "", "{"] {
        world.create_named("acme");
        let delete = request(Method::Delete, ACME, Some(ROOT));
        let response = world.handle(&with_body(delete, Some(JSON_API), sent));
        assert_eq!((response.status, response.body.len()), (204, 0), "{sent}");
        assert_eq!(response.header("content-type"), None);
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_not_found(&world.get(ACME));
    }
}

/// `/v1` refuses such a body: `h11_a_key_that_stands_twice_is_refused_at_any_depth`.
#[test]
fn contract_7_of_a_key_that_stands_twice_the_last_is_stored() {
    let world = hosted();
    let twice = r#"{"data":{"type":"organizations","attributes":
        {"name":"first","email":"first@example.com","name":"acme","\u0065mail":"last@example.com"}}}"#;
    let create = request(Method::Post, LIST, Some(ROOT));
    let made = world.handle(&with_body(create, Some(JSON_API), twice));
    assert_eq!(made.status, 201);
    let stored = body(&world.get(ACME));
    let attributes = &stored["data"]["attributes"];
    assert_eq!(attributes["name"], "acme");
    assert_eq!(attributes["email"], "last@example.com");
    assert_not_found(&world.get("/api/v2/organizations/first"));
}

#[test]
fn contract_1_4_reads_take_any_type_and_any_body() {
    for strict_media_type in [false, true] {
        let world = world_on(
            Host::default(),
            Settings {
                strict_media_type,
                ..Settings::default()
            },
        );
        world.create_named("acme");
        for target in [ACME, LIST, "/api/v2/organizations/acme/entitlement-set"] {
            for media_type in [None, Some("text/html"), Some("application/json")] {
                let mut read = request(Method::Get, target, Some(ROOT));
                read.headers.push("accept", "image/png");
                let response = world.handle(&with_body(read, media_type, "{"));
                assert_eq!(response.status, 200, "{target} {media_type:?}");
                assert_eq!(response.header("content-type"), Some(JSON_API));
            }
        }
    }
}

#[test]
fn contract_1_4_strictly_only_json_api_is_taken_even_without_a_body() {
    let world = world_on(
        Host::default(),
        Settings {
            edition: Edition::Hosted,
            strict_media_type: true,
            ..Settings::default()
        },
    );
    let new = document(&json!({"name": "acme", "email": "a@b"})).to_string();
    let send = |method, target, media_type, body: &str| {
        let sent = with_body(request(method, target, Some(ROOT)), media_type, body);
        world.handle(&sent).status
    };
    assert_eq!(
        send(Method::Post, LIST, Some("application/json"), &new),
        415
    );
    assert_eq!(send(Method::Post, LIST, None, ""), 415);
    assert_eq!(send(Method::Post, LIST, Some(JSON_API), &new), 201);
    for method in [Method::Patch, Method::Put, Method::Delete] {
        assert_eq!(send(method, ACME, None, ""), 415);
        assert_eq!(send(method, ACME, Some("application/json"), ""), 415);
    }
    assert_eq!(send(Method::Get, ACME, None, ""), 200);
    assert_eq!(send(Method::Delete, ACME, Some(JSON_API), ""), 204);
}

#[test]
fn contract_1_10_links_of_pages_stand_under_the_host_that_the_client_asked() {
    let world = hosted();
    let mut asked = request(
        Method::Get,
        "/api/v2/organizations?page[size]=1",
        Some(ROOT),
    );
    for (header, origin) in [
        (None, "http://gatehouse.example"),
        (
            Some(("x-forwarded-proto", "https")),
            "https://gatehouse.example",
        ),
        (
            Some(("x-forwarded-host", "tfe.example:8443")),
            "https://tfe.example:8443",
        ),
    ] {
        if let Some((name, value)) = header {
            asked.headers.push(name, value);
        }
        let list = body(&world.handle(&asked));
        let own = list["links"]["self"].as_str().unwrap();
        let rest = "/api/v2/organizations?page%5Bnumber%5D=1&page%5Bsize%5D=1";
        assert_eq!(own, format!("{origin}{rest}"));
    }
}

#[test]
fn contract_1_10_an_id_in_a_document_does_not_matter() {
    let world = hosted();
    world.create_named("acme");
    let data = json!({"type": "organizations", "id": "other", "attributes": {"email": "b@b"}});
    let changed = world.send(Method::Patch, ACME, Some(&json!({"data": data})));
    assert_eq!(body(&changed)["data"]["id"], "acme");
    let bare = json!({"data": {"type": "organizations"}});
    let unchanged = world.send(Method::Patch, ACME, Some(&bare));
    assert_eq!(body(&unchanged)["data"], body(&changed)["data"]);
}
