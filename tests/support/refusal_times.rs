//! The time of a refusal must not tell why a token is refused (SEC-T10): the release server is asked with tokens of every kind by turns
//! in random order, and the times of each kind are compared with those of tokens that never existed, by Mann and Whitney's test.
//!
//! `cargo run -p gatehouse-tests --example refusal_times -- [samples of each kind]`, on a quiet machine. It ends with status 1 where
//! a kind takes longer than one that never existed, or is quicker, in more than 55 of 100 pairs. Batch tokens are compared with each
//! other and do not decide: a caller that shows an expired one has had it from the server. It is no part of CI: its result depends on
//! the other work of the machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use gatehouse_tests::{Installation, Storage};
use serde_json::{Value, json};

/// Samples of each kind where the command line does not say.
const SAMPLES: usize = 10_000;
/// The largest distance from a half of the share of pairs in which one kind takes longer.
const TOLERATED: f64 = 0.05;
/// Requests before the measurement, so that everything is warm.
const WARM_UP: usize = 500;

/// The reason why a token is refused, and the number of the kind that it is compared with. It is no secret that a token is a batch token:
/// its beginning shows it.
const KINDS: [(&str, usize); 8] = [
    ("unknown", 0),
    ("unknown, again", 0),
    ("malformed", 0),
    ("expired", 0),
    ("revoked", 0),
    ("used up", 0),
    ("batch, changed in one place", 6),
    ("batch, expired", 6),
];

/// One connection, used for one request after the other.
struct Connection {
    reader: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: BufReader::new(stream),
            host: address.to_owned(),
        })
    }

    /// Status and body.
    fn send(&mut self, method: &str, path: &str, token: &str, body: &str) -> Result<(u16, String)> {
        let request = format!(
            "{method} /v1/{path} HTTP/1.1\r\nhost: {}\r\nx-vault-token: {token}\r\ncontent-length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.reader.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let status = line.split(' ').nth(1).context("no status")?.parse()?;
        let mut length = 0;
        loop {
            line.clear();
            self.reader.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body)?;
        Ok((status, String::from_utf8(body)?))
    }

    /// A token that root makes with these parameters.
    fn token(&mut self, root: &str, parameters: &Value) -> Result<String> {
        let (status, body) =
            self.send("POST", "auth/token/create", root, &parameters.to_string())?;
        ensure!(status == 200, "{status}: {body}");
        let answer: Value = serde_json::from_str(&body)?;
        let token = answer["auth"]["client_token"].as_str();
        Ok(token.context("no token")?.to_owned())
    }
}

/// A token for each sample, by its kind.
fn tokens(connection: &mut Connection, root: &str, samples: usize) -> Result<Vec<(usize, String)>> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut tokens = Vec::with_capacity(samples * KINDS.len());
    let policies = json!(["default"]);
    let length = connection
        .token(root, &json!({ "policies": policies }))?
        .len();
    let mut never_made = || -> String { (4..length).map(|_| random.alphanumeric()).collect() };
    for _ in 0..samples {
        tokens.push((0, format!("hvs.{}", never_made())));
        tokens.push((1, format!("hvs.{}", never_made())));
        tokens.push((2, never_made()));
        let expired = json!({"policies": policies, "ttl": "1s"});
        tokens.push((3, connection.token(root, &expired)?));
        let revoked = connection.token(root, &json!({ "policies": policies }))?;
        let body = json!({ "token": revoked }).to_string();
        let (status, _) = connection.send("POST", "auth/token/revoke", root, &body)?;
        ensure!(status == 204, "revoke: {status}");
        tokens.push((4, revoked));
        let used_up = json!({"policies": policies, "num_uses": 1});
        let used_up = connection.token(root, &used_up)?;
        let (status, _) = connection.send("GET", "auth/token/lookup-self", &used_up, "")?;
        ensure!(status == 200, "the one use: {status}");
        tokens.push((5, used_up));
        let batch = json!({"policies": policies, "type": "batch"});
        let mut batch = connection.token(root, &batch)?;
        let last = batch.pop().context("an empty token")?;
        batch.push(if last == 'A' { 'Q' } else { 'A' });
        tokens.push((6, batch));
        let expired = json!({"policies": policies, "type": "batch", "ttl": "1s"});
        tokens.push((7, connection.token(root, &expired)?));
    }
    // Those that live for a second expire.
    std::thread::sleep(Duration::from_secs(2));
    random.shuffle(&mut tokens);
    Ok(tokens)
}

/// Microseconds of each refusal, by kind.
fn measure(
    connection: &mut Connection,
    tokens: &[(usize, String)],
) -> Result<[Vec<f64>; KINDS.len()]> {
    let mut times: [Vec<f64>; KINDS.len()] = Default::default();
    let mut first_body: Option<usize> = None;
    for (kind, token) in tokens {
        let began = Instant::now();
        let (status, body) = connection.send("GET", "auth/token/lookup-self", token, "")?;
        let took = began.elapsed();
        ensure!(status == 403, "{}: {status} {body}", KINDS[*kind].0);
        ensure!(
            *first_body.get_or_insert(body.len()) == body.len(),
            "answers differ: {body}"
        );
        times[*kind].push(took.as_secs_f64() * 1e6);
    }
    Ok(times)
}

/// The share of all pairs in which the second is the longer one, half of the equal ones among them; and the number of standard deviations
/// between that share and a half.
fn compare(one: &[f64], other: &[f64]) -> (f64, f64) {
    let mut all: Vec<(f64, bool)> = one.iter().map(|time| (*time, false)).collect();
    all.extend(other.iter().map(|time| (*time, true)));
    all.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut ranks = 0.0;
    let mut begin = 0;
    while begin < all.len() {
        let equal = all[begin..]
            .iter()
            .take_while(|it| it.0 == all[begin].0)
            .count();
        // Ranks count from 1; those that are equal share theirs.
        let rank = begin as f64 + (equal as f64 + 1.0) / 2.0;
        let of_other = all[begin..begin + equal].iter().filter(|it| it.1).count();
        ranks += rank * of_other as f64;
        begin += equal;
    }
    let (n, m) = (one.len() as f64, other.len() as f64);
    let larger = ranks - m * (m + 1.0) / 2.0;
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    (larger / (n * m), (larger - n * m / 2.0) / deviation)
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<ExitCode> {
    let given = std::env::args().nth(1).map(|text| text.parse());
    let samples = given.transpose()?.unwrap_or(SAMPLES);
    let installation = Installation::start(Storage::Durable, "")?;
    let mut connection = Connection::open(installation.address())?;
    let tokens = tokens(&mut connection, installation.root_token(), samples)?;
    for _ in 0..WARM_UP {
        connection.send("GET", "auth/token/lookup-self", "hvs.unknown", "")?;
    }
    let times = measure(&mut connection, &tokens)?;
    let mut is_told = false;
    println!("{samples} refusals of each kind; times in microseconds");
    println!("{:36} {:>8} {:>8} {:>8}", "kind", "median", "longer", "z");
    for ((kind, compared_with), of_kind) in KINDS.iter().zip(&times) {
        let (share, z) = compare(&times[*compared_with], of_kind);
        is_told |= *compared_with == 0 && (share - 0.5).abs() > TOLERATED;
        let median = median(of_kind);
        println!("{kind:36} {median:8.1} {:7.1}% {z:8.2}", share * 100.0);
    }
    Ok(match is_told {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}
