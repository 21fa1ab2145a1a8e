//! A list of organizations that comes in several parts, and a client that asks for it and reads only when it is told to.
//!
//! The client speaks HTTP/2, frame by frame: how much is sent before it reads is then its window of 64 KiB, and not what the sockets of the
//! machine take.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use gatehouse_tests::Installation;
use serde_json::{Value, json};

/// Four parts of 500: one can be on its way and one be held behind it, and neither is the last.
pub const MANY: usize = 2_000;

const LIST: &str = "/api/v2/organizations";
/// A machine under load is no failure.
const PATIENCE: Duration = Duration::from_secs(60);

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
/// Of data and headers: nothing follows.
const END_OF_STREAM: u8 = 1;
/// Of settings.
const ACKNOWLEDGED: u8 = 1;
/// Of headers.
const END_OF_HEADERS: u8 = 4;
/// The whole connection, and the one request.
const CONNECTION: u32 = 0;
const REQUEST: u32 = 1;

pub fn name(number: usize) -> String {
    format!("org-{number:04}")
}

/// Makes the organizations of the list.
pub fn crowd(installation: &Installation) {
    for number in 0..MANY {
        let document = json!({"data": {"type": "organizations", "attributes": {
            "name": name(number),
            "email": "ops@example.com",
        }}});
        let made = installation.as_root("POST", LIST, Some(&document));
        assert_eq!(made.status, 201, "{}", made.body);
    }
}

/// The document is the list of all of them.
#[track_caller]
pub fn assert_whole(document: &Value) {
    let data = document["data"].as_array().unwrap().iter();
    let found: Vec<_> = data.map(|item| item["id"].as_str().unwrap()).collect();
    let expected: Vec<String> = (0..MANY).map(name).collect();
    assert_eq!(found, expected);
}

/// The bytes that a reader got in the end.
pub struct Received {
    pub body: Vec<u8>,
    /// True if the answer ended as one that is whole does.
    pub is_whole: bool,
}

/// A client that has asked for the list without pages.
pub struct SlowReader {
    stream: TcpStream,
}

impl SlowReader {
    /// Asks; nothing of the answer is read.
    pub fn ask(installation: &Installation, token: &str) -> Self {
        let mut stream = TcpStream::connect(installation.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(PREFACE).unwrap();
        let mut reader = Self { stream };
        reader.send(SETTINGS, 0, CONNECTION, &[]);
        // `:method: GET` and `:scheme: http` are in the table of HPACK, of the others the names.
        let mut fields = vec![0x82, 0x86];
        field(&mut fields, &[0x04], LIST);
        field(&mut fields, &[0x01], installation.address());
        field(&mut fields, &[0x0f, 0x08], &format!("Bearer {token}"));
        let whole = END_OF_STREAM | END_OF_HEADERS;
        reader.send(HEADERS, whole, REQUEST, &fields);
        reader
    }

    /// Waits until the answer has begun.
    pub fn wait_for_beginning(&mut self) {
        while self.receive().expect("an answer").kind != HEADERS {}
    }

    /// Reads everything that comes.
    pub fn read(mut self) -> Received {
        let all = 0x7fff_ffff_u32 - 0xffff;
        for of in [CONNECTION, REQUEST] {
            self.send(WINDOW_UPDATE, 0, of, &all.to_be_bytes());
        }
        let mut body = Vec::new();
        // A connection that is closed ends the answer as a reset does.
        while let Some(frame) = self.receive() {
            if frame.kind == DATA {
                body.extend_from_slice(&frame.payload);
            }
            match frame.kind {
                DATA | HEADERS if frame.flags & END_OF_STREAM != 0 => {
                    let is_whole = true;
                    return Received { body, is_whole };
                }
                RESET | GO_AWAY => break,
                _ => {}
            }
        }
        let is_whole = false;
        Received { body, is_whole }
    }

    fn send(&mut self, kind: u8, flags: u8, of: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(of.to_be_bytes());
        frame.extend(payload);
        // A client that is cut off has no peer to send to, and finds out when it reads.
        let _ = self.stream.write_all(&frame);
    }

    fn receive(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let [high, middle, low, kind, flags, ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, high, middle, low]) as usize];
        self.stream.read_exact(&mut payload).ok()?;
        if kind == SETTINGS && flags & ACKNOWLEDGED == 0 {
            self.send(SETTINGS, ACKNOWLEDGED, CONNECTION, &[]);
        }
        Some(Frame {
            kind,
            flags,
            payload,
        })
    }
}

struct Frame {
    kind: u8,
    flags: u8,
    payload: Vec<u8>,
}

/// A field of HPACK that is not remembered: how it names its name, and its value as it is.
fn field(fields: &mut Vec<u8>, name: &[u8], value: &str) {
    fields.extend(name);
    let length = value.len();
    match length.checked_sub(0x7f) {
        None => fields.extend(u8::try_from(length)),
        Some(mut rest) => {
            fields.push(0x7f);
            while rest >= 0x80 {
                fields.extend(u8::try_from(rest % 0x80 + 0x80));
                rest /= 0x80;
            }
            fields.extend(u8::try_from(rest));
        }
    }
    fields.extend(value.as_bytes());
}
