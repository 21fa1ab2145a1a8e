//! SIGHUP: the settings that a running server reads again, and its report on the rest.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;

use gatehouse_tests::gatehouse_binary;
use rustix::process::{Pid, Signal, kill_process};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A server whose log is read, ended with the test.
struct Logged {
    process: Child,
    log: BufReader<ChildStderr>,
}

impl Logged {
    fn start(configuration: &Path) -> Self {
        let mut process = Command::new(gatehouse_binary())
            .args(["server", "--config"])
            .arg(configuration)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(process.stderr.take().unwrap());
        Self { process, log }
    }

    fn signal(&self, signal: Signal) {
        let process = i32::try_from(self.process.id()).unwrap();
        kill_process(Pid::from_raw(process).unwrap(), signal).unwrap();
    }

    /// Reads on to the line with `text`.
    fn await_line(&mut self, text: &str) -> String {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "no {text:?}");
        }
        line
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_hangup_puts_a_changed_level_in_force_and_names_each_setting_that_waits_for_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let configuration = place.path().join("gatehouse.toml");
    let write = |more: &str| {
        let text =
            format!("[listener]\naddress = \"127.0.0.1:0\"\n[storage]\ntype = \"memory\"\n{more}");
        fs::write(&configuration, text).unwrap();
    };
    write("");
    let mut server = Logged::start(&configuration);
    server.await_line("serving at");

    server.signal(Signal::HUP);
    server.await_line("no setting has changed");
    write("[limits]\nqueue = 7\n[log]\nlevel = \"warn\"\n");
    server.signal(Signal::HUP);
    let line = server.await_line("limits.queue changed");
    assert!(
        line.contains("from 1024 to 7; that needs a restart"),
        "{line}"
    );

    // The level `warn` hides informative lines from now on, and a settings file with mistakes changes nothing.
    write("[limits]\nqueue = 0\n[log]\nlevel = \"info\"\n");
    server.signal(Signal::HUP);
    server.await_line("the settings stay as they are");
    server.await_line("line 6: limits.queue");

    write("[limits]\nqueue = 7\n[log]\nlevel = \"info\"\n");
    server.signal(Signal::HUP);
    let line = server.await_line("log.level changed");
    assert!(line.contains("from \"warn\" to \"info\""), "{line}");
    server.signal(Signal::TERM);
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}

type Connection = StreamOwned<ClientConnection, TcpStream>;

/// A new connection to a server whose certificate is this one; none where it shows another.
fn connect(address: SocketAddr, certificate: &CertificateDer<'static>) -> Option<Connection> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut tls = ClientConnection::new(Arc::new(client), name).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    while tls.is_handshaking() {
        tls.complete_io(&mut stream).ok()?;
    }
    Some(StreamOwned::new(tls, stream))
}

/// Sends a ping on an open connection, which must be answered.
fn ping(connection: &mut Connection) {
    let request = b"GET /api/v2/ping HTTP/1.1\r\nHost: localhost\r\n\r\n";
    connection.write_all(request).unwrap();
    let mut begins = [0; 12];
    connection.read_exact(&mut begins).unwrap();
    assert_eq!(&begins, b"HTTP/1.1 204");
}

#[test]
fn h7_a_hangup_shows_a_renewed_certificate_to_new_connections_and_keeps_the_old_one_in_place_of_a_broken_file()
 {
    let place = tempfile::tempdir().unwrap();
    let [configuration, certificate_file, key_file] =
        ["gatehouse.toml", "tls.pem", "tls.key"].map(|name| place.path().join(name));
    let renew = || {
        let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        fs::write(&certificate_file, pair.cert.pem()).unwrap();
        fs::write(&key_file, pair.signing_key.serialize_pem()).unwrap();
        pair.cert.der().clone()
    };
    let first = renew();
    // The server refuses a key file that every user may read. Writing to the file again keeps its mode.
    fs::set_permissions(&key_file, fs::Permissions::from_mode(0o600)).unwrap();
    let text = format!(
        "[listener]\naddress = \"127.0.0.1:0\"\ntls_cert_file = {certificate_file:?}\ntls_key_file = {key_file:?}\n\
         [storage]\ntype = \"memory\"\n"
    );
    fs::write(&configuration, text).unwrap();
    let mut server = Logged::start(&configuration);
    let line = server.await_line("serving at https://");
    let (_, address) = line.trim_end().rsplit_once("https://").unwrap();
    let address: SocketAddr = address.parse().unwrap();
    let mut opened_before = connect(address, &first).unwrap();

    let second = renew();
    server.signal(Signal::HUP);
    server.await_line("the TLS certificate was read again");
    assert!(connect(address, &first).is_none());
    ping(&mut connect(address, &second).unwrap());
    // Open connections continue to serve requests.
    ping(&mut opened_before);

    fs::write(&certificate_file, "no certificate").unwrap();
    server.signal(Signal::HUP);
    let line = server.await_line("the old TLS certificate stays in use");
    let reason = format!("listener.tls_cert_file: {}: ", certificate_file.display());
    assert!(line.contains(&reason), "{line}");
    ping(&mut connect(address, &second).unwrap());

    // A key of another certificate is refused as well.
    let third = renew();
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    fs::write(&key_file, pair.signing_key.serialize_pem()).unwrap();
    server.signal(Signal::HUP);
    let line = server.await_line("the old TLS certificate stays in use");
    assert!(line.contains("cannot be used together"), "{line}");
    assert!(connect(address, &third).is_none());
    ping(&mut connect(address, &second).unwrap());
    server.signal(Signal::TERM);
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}
