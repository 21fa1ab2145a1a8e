//! A database that cannot be reached, or does not let this server in: each cause is said with its cure, and without the password (SEC-O5).

use std::sync::Arc;

use gatehouse_ports::SystemClock;
use gatehouse_postgres_server::{PostgresServer, connect, url};
use gatehouse_store::{PostgresBackend, PostgresError, PostgresSettings};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use rustls::RootCertStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::postgres_databases::{PASSWORD, settings, settings_with};

/// The error text for a database that cannot be reached.
async fn said_of(settings: &PostgresSettings) -> String {
    let refused = PostgresBackend::open(settings, Arc::new(SystemClock)).await;
    let refused = refused.unwrap_err();
    let is_unreachable = matches!(refused, PostgresError::Unreachable(_));
    assert!(is_unreachable, "{refused:?}");
    let text = refused.to_string();
    for said in [&text, &format!("{refused:?}")] {
        for kept_back in [PASSWORD, "postgresql://"] {
            assert!(!said.contains(kept_back), "{said}");
        }
    }
    text
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[tokio::test]
async fn o5_a_host_without_an_address_is_told_apart_from_one_where_nothing_listens() {
    // No name service is asked for a label of that length.
    let nameless = format!("postgresql://a@{}/b", "a".repeat(64));
    let text = said_of(&settings(&nameless)).await;
    assert_says(&text, &["correct the host in storage.url", "name service"]);
    let text = said_of(&settings(&url(1, "b"))).await;
    let words = ["start the database server", "port in storage.url"];
    assert_says(&text, &words);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let without_socket = format!("host={path} user=a dbname=b");
    let words = ["start the database server", "unix_socket_directories"];
    assert_says(&said_of(&settings(&without_socket)).await, &words);
}

#[tokio::test]
async fn o5_a_host_that_does_not_answer_is_said_to_be_too_slow() {
    // The kernel accepts connections for it; no answer ever comes.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let text = said_of(&settings(&url(port, "b"))).await;
    assert_says(&text, &["too long to connect", "firewall"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o5_a_user_who_is_not_let_in_is_told_where_users_and_passwords_are_set() {
    let rules = "host all owner 127.0.0.1/32 trust\nhost all guarded 127.0.0.1/32 scram-sha-256\n";
    let server = PostgresServer::start_with_files(&[], &[("pg_hba.conf", rules)]).await;
    let owner = connect(&server.url("postgres")).await.unwrap();
    let users = "create role guarded login password 'right'; create role unlisted login";
    owner.batch_execute(users).await.unwrap();
    for (user, password, reason) in [
        ("guarded", None, "password missing"),
        ("guarded", Some(PASSWORD), "28P01"),
        ("unlisted", Some(PASSWORD), "28000"),
    ] {
        let url = server.url("postgres").replace("owner", user);
        let mut settings = settings(&url);
        settings.password = password.map(|password| password.to_owned().into());
        let text = said_of(&settings).await;
        assert_says(&text, &[reason, "storage.password_file", "pg_hba.conf"]);
    }
}

/// Answers every client with a refusal of this code, as a database does before it has let a client in.
async fn refusing(code: &'static str) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let refusing = tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let length = client.read_u32().await.unwrap();
            let mut startup = vec![0; length as usize - 4];
            client.read_exact(&mut startup).await.unwrap();
            let fields = format!("SFATAL\0VFATAL\0C{code}\0Mnot now\0\0");
            let length = u32::try_from(fields.len()).unwrap() + 4;
            client.write_u8(b'E').await.unwrap();
            client.write_u32(length).await.unwrap();
            client.write_all(fields.as_bytes()).await.unwrap();
        }
    });
    (port, refusing)
}

#[tokio::test]
async fn o5_a_database_that_refuses_everybody_for_now_is_told_by_its_code() {
    for (code, words) in [
        ("57P03", "wait until it accepts connections"),
        ("57P01", "start the database server if it was stopped"),
        ("53300", "raise max_connections"),
        ("3D000", "make the database"),
    ] {
        let (port, refusing) = refusing(code).await;
        let text = said_of(&settings(&url(port, "b"))).await;
        assert_says(&text, &[code, words]);
        refusing.abort();
    }
}

/// The address of these ports of this machine.
fn of_ports(ports: &[u16]) -> String {
    let hosts: Vec<String> = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}"))
        .collect();
    format!("postgresql://owner@{}/b", hosts.join(","))
}

#[tokio::test]
async fn o5_of_several_hosts_the_one_that_has_to_be_mended_is_said_in_whichever_order_they_are_named()
 {
    const NOTHING_LISTENS: u16 = 1;
    let (refused, refusing_user) = refusing("28P01").await;
    let (not_ready, starting) = refusing("57P03").await;
    let (_silent, silent) = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    };
    for (one, other, words) in [
        (refused, NOTHING_LISTENS, "storage.password_file"),
        (refused, not_ready, "storage.password_file"),
        (refused, silent, "storage.password_file"),
        (
            not_ready,
            NOTHING_LISTENS,
            "wait until it accepts connections",
        ),
        (NOTHING_LISTENS, silent, "start the database server"),
    ] {
        for ports in [[one, other], [other, one]] {
            let text = said_of(&settings(&of_ports(&ports))).await;
            assert_says(&text, &["none of the 2 hosts in storage.url", words]);
        }
    }
    let all = [NOTHING_LISTENS, not_ready, refused, NOTHING_LISTENS];
    let text = said_of(&settings(&of_ports(&all))).await;
    assert_says(&text, &["none of the 4 hosts", "28P01"]);
    let text = said_of(&settings(&of_ports(&[refused]))).await;
    assert!(!text.contains("hosts in storage.url"), "{text}");
    for refusing in [refusing_user, starting] {
        refusing.abort();
    }
}

/// The error text for a server whose certificate for `localhost` is made so, and is trusted or not.
async fn said_of_certificate(trusts: bool, make: impl Fn(&mut CertificateParams)) -> String {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
    make(&mut parameters);
    let certificate = parameters.self_signed(&key).unwrap();
    let tls = ["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=key.pem"];
    let (certified, key) = (certificate.pem(), key.serialize_pem());
    let files = [("server.pem", &*certified), ("key.pem", &*key)];
    let server = PostgresServer::start_with_files(&tls, &files).await;
    let mut roots = RootCertStore::empty();
    if trusts {
        roots.add(certificate.der().clone()).unwrap();
    }
    let url = format!("{}?sslmode=verify-full", server.url("postgres"));
    said_of(&settings_with(
        &url.replace("127.0.0.1", "localhost"),
        roots,
    ))
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o5_a_certificate_that_is_not_accepted_is_said_with_what_would_be() {
    let text = said_of_certificate(false, |_| {}).await;
    assert_says(&text, &["certificate", "storage.ca_file"]);
    let expired = said_of_certificate(true, |parameters| {
        parameters.not_before = date_time_ymd(2000, 1, 1);
        parameters.not_after = date_time_ymd(2001, 1, 1);
    });
    assert_says(&expired.await, &["renew the certificate", "clock"]);
    let authority = said_of_certificate(true, |parameters| {
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    assert_says(&authority.await, &["CA:FALSE", "storage.ca_file"]);
}
