//! Answers in parts, and clients that take them slowly or not at all.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::*;
use crate::settings::Settings;

/// What a part of an answer holds; more than sockets keep, with those that follow.
const PART: Bytes = Bytes::from_static(&[b'x'; 1 << 20]);

/// Answers in parts: `/endless` without an end, `/ten` ten small ones with a pause before each.
struct InParts {
    /// Dropped with the body of an answer.
    answering: Mutex<Option<oneshot::Sender<()>>>,
}

impl RequestHandler for InParts {
    async fn handle(
        &self,
        request: Request<Bytes>,
        _: IpAddr,
    ) -> Result<Response<AnswerBody>, Refusal> {
        let answering = self.answering.lock().unwrap().take();
        let body = if request.uri().path() == "/endless" {
            let parts = stream::repeat_with(move || {
                let _held = &answering;
                Ok(PART)
            });
            AnswerBody::in_parts(PART, parts)
        } else {
            let parts = stream::unfold(0, |number| async move {
                sleep(Duration::from_millis(300)).await;
                (number < 10).then_some((Ok(Bytes::from_static(b"part ")), number + 1))
            });
            AnswerBody::in_parts(Bytes::new(), parts)
        };
        Ok(Response::new(body))
    }
}

/// A connection that has asked for `path`, and what ends with the answer's body.
async fn asked(path: &str) -> (TcpStream, oneshot::Receiver<()>) {
    let text = "storage.type = \"memory\"\nlistener.address = \"127.0.0.1:0\"\nlimits.idle_timeout = \"1s\"";
    let settings = Settings::from_text(text, Vec::new(), Vec::new()).unwrap();
    let listener = Listener::bind(&settings.listener, &settings.limits)
        .await
        .unwrap();
    let address = listener.local_address();
    let (answering, answered) = oneshot::channel();
    let handler = InParts {
        answering: Mutex::new(Some(answering)),
    };
    tokio::spawn(listener.serve(Arc::new(handler), std::future::pending()));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    (stream, answered)
}

#[tokio::test]
async fn h3_a_client_that_takes_no_part_is_cut_off() {
    let (mut stream, answered) = asked("/endless").await;
    // Ready with an error once the body has been dropped.
    assert!(answered.await.is_err());
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received).await;
    assert!(received.starts_with(b"HTTP/1.1 200 "));
    assert!(!received.ends_with(b"0\r\n\r\n"));
}

#[tokio::test]
async fn a_client_that_takes_part_after_part_may_take_longer_than_the_idle_time() {
    let (mut stream, _answered) = asked("/ten").await;
    let mut received = String::new();
    stream.read_to_string(&mut received).await.unwrap();
    assert_eq!(received.matches("part ").count(), 10);
    assert!(received.ends_with("0\r\n\r\n"));
}
