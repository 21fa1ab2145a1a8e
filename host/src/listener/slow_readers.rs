//! Answers in parts, and clients that take them slowly or not at all.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::*;
use crate::settings::Settings;

/// The size of a part of an answer; more than sockets keep, with those that follow.
const PART: Bytes = Bytes::from_static(&[b'x'; 1 << 20]);

/// Longer than a connection without a request is kept when the server stops.
const LONGER_THAN_THE_FAREWELL: Duration = Duration::from_millis(6500);

/// Answers in parts: `/endless` without an end, `/drops` small ones without an end and a pause before each, `/ten` ten of them, `/late` one
/// that takes long.
struct InParts {
    /// Dropped with the body of `/endless`.
    answering: Mutex<Option<oneshot::Sender<()>>>,
}

impl RequestHandler for InParts {
    async fn handle(
        &self,
        request: Request<Bytes>,
        _: IpAddr,
    ) -> Result<Response<AnswerBody>, RequestError> {
        let parts = |number: usize, pause| {
            let parts = stream::unfold(0, move |made| async move {
                sleep(pause).await;
                (made < number).then_some((Ok(Bytes::from_static(b"part ")), made + 1))
            });
            AnswerBody::in_parts(Bytes::from_static(b"first "), parts)
        };
        let body = match request.uri().path() {
            "/endless" => {
                let answering = self.answering.lock().unwrap().take();
                let parts = stream::repeat_with(move || {
                    let _held = &answering;
                    Ok(PART)
                });
                AnswerBody::in_parts(PART, parts)
            }
            "/drops" => parts(usize::MAX, Duration::from_millis(100)),
            "/late" => parts(1, LONGER_THAN_THE_FAREWELL),
            _ => parts(10, Duration::from_millis(300)),
        };
        Ok(Response::new(body))
    }
}

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    /// Ready with an error once the body of `/endless` has been dropped.
    answered: oneshot::Receiver<()>,
}

async fn start() -> Running {
    let text = "storage.type = \"memory\"\nlistener.address = \"127.0.0.1:0\"\nlimits.idle_timeout = \"1s\"";
    let settings = Settings::from_text(text, Vec::new(), Vec::new()).unwrap();
    let listener = Listener::bind(&settings.listener, &settings.limits)
        .await
        .unwrap();
    let address = listener.local_address();
    let (answering, answered) = oneshot::channel();
    let (stop, stopped) = oneshot::channel();
    let handler = InParts {
        answering: Mutex::new(Some(answering)),
    };
    tokio::spawn(listener.serve(Arc::new(handler), async {
        let _ = stopped.await;
    }));
    Running {
        address,
        stop,
        answered,
    }
}

/// A connection that has asked for `path`.
async fn asked(server: &Running, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn h3_a_client_that_takes_no_part_is_cut_off() {
    let server = start().await;
    let mut stream = asked(&server, "/endless").await;
    assert!(server.answered.await.is_err());
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received).await;
    assert!(received.starts_with(b"HTTP/1.1 200 "));
    assert!(!received.ends_with(b"0\r\n\r\n"));
}

#[tokio::test]
async fn h3_over_http2_a_client_that_takes_no_part_of_one_stream_is_cut_off_whatever_the_others_do()
{
    let server = start().await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    let address = server.address;
    let mut get = async |path: &str| {
        let request = Request::get(format!("http://{address}{path}"));
        let request = request.body(Full::<Bytes>::default()).unwrap();
        sender.send_request(request).await.unwrap()
    };
    let _untaken = get("/endless").await;
    let mut taken = get("/drops").await;
    let mut drops = 0;
    let cut_off = async {
        while let Some(Ok(_)) = taken.frame().await {
            drops += 1
        }
    };
    timeout(Duration::from_secs(30), cut_off)
        .await
        .expect("the server ends the connection");
    // It was taken all the time, the farewell included.
    assert!(drops > 15, "{drops}");
    assert!(server.answered.await.is_err());
}

#[tokio::test]
async fn a_client_that_takes_part_after_part_may_take_longer_than_the_idle_time() {
    let server = start().await;
    let mut received = String::new();
    let mut stream = asked(&server, "/ten").await;
    stream.read_to_string(&mut received).await.unwrap();
    assert_eq!(received.matches("part ").count(), 10);
    assert!(received.ends_with("0\r\n\r\n"));
}

#[tokio::test]
async fn o1_a_part_that_is_in_the_making_when_the_server_stops_arrives() {
    let server = start().await;
    let mut stream = asked(&server, "/late").await;
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    server.stop.send(()).unwrap();
    let mut received = String::new();
    stream.read_to_string(&mut received).await.unwrap();
    assert!(received.contains("part "), "{received}");
    assert!(received.ends_with("0\r\n\r\n"), "{received}");
}

#[tokio::test]
async fn connections_are_asked_whether_their_client_is_still_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let _client = TcpStream::connect(address).await.unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    set_pace_of_packets(&stream);
    let socket = SockRef::from(&stream);
    assert!(socket.keepalive().unwrap());
    assert_eq!(
        socket.tcp_keepalive_time().unwrap(),
        Duration::from_secs(60)
    );
    assert!(stream.nodelay().unwrap());
}
