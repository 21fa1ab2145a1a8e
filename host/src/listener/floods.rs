//! Floods over real sockets: of bytes, of frames, of connections that say nothing (SEC-H1, H4, H6). Whatever comes, the next client is
//! served.

use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::tests::{CLOSE, Echo, Running, https_get, start, statuses};
use super::*;
use crate::settings::Settings;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames (RFC 9113, section 6), and the flags that end a stream and a header block.
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `GET http://h/never`: four fields by the static table of HPACK, two of them with values of their own.
const NEVER: &[u8] = b"\x82\x86\x44\x06/never\x41\x01h";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

async fn http2(server: &Running) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(PREFACE).await.unwrap();
    let settings = frame(SETTINGS, 0, 0, &[]);
    stream.write_all(&settings).await.unwrap();
    stream
}

/// Sends as much as the server takes of what `next` gives, reading what comes meanwhile; how many of them were sent until the server
/// closed the connection, or all.
async fn flood(stream: TcpStream, number: u32, next: impl Fn(u32) -> Vec<u8>) -> (u32, bool) {
    let (mut from_server, mut to_server) = stream.into_split();
    let closed = tokio::spawn(async move {
        let mut heard = vec![0; 64 << 10];
        while let Ok(1..) = from_server.read(&mut heard).await {}
    });
    let sending = async {
        for count in 0..number {
            if to_server.write_all(&next(count)).await.is_err() || closed.is_finished() {
                return count;
            }
        }
        number
    };
    let sent = timeout(Duration::from_secs(20), sending).await;
    let sent = sent.expect("the server reads or closes");
    let closed = timeout(Duration::from_secs(2), closed).await.is_ok();
    (sent, closed)
}

async fn assert_serves(server: &Running) {
    let request = format!("GET /v1/next HTTP/1.1\r\n{CLOSE}\r\n");
    let answer = timeout(Duration::from_secs(1), server.exchange(request)).await;
    assert_eq!(statuses(&answer.expect("at once")), ["200"]);
}

#[tokio::test]
async fn h1_a_body_without_end_is_cut_off() {
    let server = start("body_limit = 1000").await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /v1/a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = [b"4000\r\n".to_vec(), vec![b'x'; 0x4000], b"\r\n".to_vec()].concat();
    // 48 MiB; the client is cut off long before that.
    let (sent, closed) = flood(stream, 3072, |_| chunk.clone()).await;
    assert!(sent < 3072 && closed, "{sent}");
    assert_eq!(server.calls(), 0);
    assert_serves(&server).await;
}

#[tokio::test]
async fn h6_a_header_block_that_never_ends_is_cut_off() {
    let server = start("").await;
    let stream = http2(&server).await;
    let (sent, closed) = flood(stream, 10_000, |count| match count {
        0 => frame(HEADERS, END_STREAM, 1, NEVER),
        _ => frame(CONTINUATION, 0, 1, b"\x00\x01x\x01y"),
    })
    .await;
    assert!(closed && sent <= 10_000);
    assert_eq!(server.calls(), 0);
    assert_serves(&server).await;
}

#[tokio::test]
async fn h6_a_small_header_block_that_grows_when_it_is_read_reaches_nobody() {
    let server = start("").await;
    let mut stream = http2(&server).await;
    // One field of 4,000 bytes goes into the table of the connection, and then 16,000 bytes name it as often: 64 MB.
    let mut block = NEVER.to_vec();
    block.extend(b"\x40\x01x\x7f");
    block.extend([0xa1, 0x1e]);
    block.extend(vec![b'a'; 4_000]);
    block.extend(vec![0xbe; 12_000]);
    let bomb = frame(HEADERS, END_STREAM | END_HEADERS, 1, &block);
    stream.write_all(&bomb).await.unwrap();
    assert_serves(&server).await;
    assert_eq!(server.calls(), 1, "that of the client after it");
}

#[tokio::test]
async fn h6_streams_that_the_server_is_provoked_to_reset_end_the_connection() {
    let server = start("[limits]\nhttp2_resets = 20\nhttp2_resets_per_second = 1").await;
    let stream = http2(&server).await;
    // An increment of zero is a fault of the stream, which the server has to reset ("MadeYouReset", CVE-2025-8671).
    let (sent, closed) = flood(stream, 2_000, |count| {
        let id = 2 * count + 1;
        let mut frames = frame(HEADERS, END_STREAM | END_HEADERS, id, NEVER);
        frames.extend(frame(WINDOW_UPDATE, 0, id, &[0; 4]));
        frames
    })
    .await;
    assert!(closed, "{sent}");
    assert!(server.calls() < 200, "{}", server.calls());
    assert_serves(&server).await;
}

#[tokio::test]
async fn h6_frames_that_ask_for_nothing_hold_up_nobody() {
    for kind in [PING, SETTINGS, PRIORITY] {
        let server = start("").await;
        let stream = http2(&server).await;
        let (sent, _) = flood(stream, 20_000, |count| match kind {
            PING => frame(PING, 0, 0, &[0; 8]),
            SETTINGS => frame(SETTINGS, 0, 0, &[]),
            _ => frame(PRIORITY, 0, 2 * count + 1, &[0, 0, 0, 0, 1]),
        })
        .await;
        assert!(sent > 0);
        assert_serves(&server).await;
        assert_eq!(server.calls(), 1);
    }
}

#[tokio::test]
async fn h4_stalled_handshakes_hold_up_nobody_and_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&files[0], pair.cert.pem()).unwrap();
    std::fs::write(&files[1], pair.signing_key.serialize_pem()).unwrap();
    let text = format!(
        "storage.type = \"memory\"\n[listener]\naddress = \"127.0.0.1:0\"\ntls_cert_file = {:?}\ntls_key_file = {:?}\n\
         [limits]\ntls_handshake_timeout = \"500ms\"\nconnections_per_address = 2000",
        files[0], files[1]
    );
    let settings = Settings::from_text(&text, Vec::new(), Vec::new()).unwrap();
    let listener = Listener::bind(&settings.listener, &settings.limits)
        .await
        .unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, listener.local_address().port()));
    tokio::spawn(listener.serve(Arc::new(Echo::default()), std::future::pending()));
    let mut stalled = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"\x16\x03\x01").await.unwrap();
        stalled.push(stream);
    }
    let answer = https_get(address, pair.cert.der(), true).await.unwrap();
    assert_eq!(answer.status(), 200);
    for stream in &mut stalled {
        let end = timeout(Duration::from_secs(10), stream.read(&mut [0; 1])).await;
        assert!(matches!(end, Ok(Ok(0) | Err(_))), "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn h4_no_error_of_accepting_ends_the_loop_and_want_of_room_is_waited_for() {
    let waited = async |code: i32| {
        let started = tokio::time::Instant::now();
        await_room(&io::Error::from_raw_os_error(code)).await;
        started.elapsed()
    };
    // As Linux numbers them: ECONNABORTED, ECONNRESET, EINTR; EMFILE, ENFILE, ENOBUFS, ENOMEM.
    for of_one_connection in [103, 104, 4] {
        assert_eq!(waited(of_one_connection).await, Duration::ZERO);
    }
    for of_the_system in [24, 23, 105, 12] {
        assert_eq!(waited(of_the_system).await, ACCEPT_BACKOFF);
    }
}
