//! A bounded load of equal requests over connections that stay open.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How much load a measurement makes.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Connections, each with one request at a time.
    pub connections: usize,
    /// How long requests count, after a fifth of it that does not.
    pub duration: Duration,
}

/// What a measurement found.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Answers per second.
    pub rate: f64,
    /// The latency that half of the requests stayed below, in milliseconds.
    pub median: f64,
    /// The latency that 99 of 100 requests stayed below, in milliseconds.
    pub percentile_99: f64,
}

/// One whole HTTP/1.1 request.
pub fn request(method: &str, path: &str, token: Option<&str>, body: &str) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    if let Some(token) = token {
        text.push_str(&format!(
            "X-Vault-Token: {token}\r\nAuthorization: Bearer {token}\r\n"
        ));
    }
    if !body.is_empty() {
        text.push_str("Content-Type: application/json\r\n");
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    text.into_bytes()
}

/// Sends `requests` in random order as often as the server answers, and fails at the first answer that is not a 200.
///
/// # Errors
///
/// When the server cannot be reached or an answer is not as expected.
pub fn measure(server: SocketAddr, requests: &[Vec<u8>], load: Load) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let requests: Arc<[Vec<u8>]> = requests.into();
    let start = Instant::now() + load.duration / 5;
    let end = start + load.duration;
    let mut latencies = runtime.block_on(async {
        let mut connections = tokio::task::JoinSet::new();
        for number in 0..load.connections {
            let order = RandomOrder::new(number, requests.clone());
            connections.spawn(connection(server, order, start, end));
        }
        let mut latencies: Vec<u32> = Vec::new();
        while let Some(finished) = connections.join_next().await {
            latencies.extend(finished??);
        }
        anyhow::Ok(latencies)
    })?;
    latencies.sort_unstable();
    summary(&latencies, load.duration)
}

/// Sends each of `requests` once, one after the other over one connection, and fails at the first answer that is not a 200.
///
/// # Errors
///
/// When the server cannot be reached or an answer is not as expected.
pub fn measure_once_each(server: SocketAddr, requests: &[Vec<u8>]) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let begun = Instant::now();
    let mut latencies = runtime.block_on(async {
        let mut stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        let mut latencies = Vec::with_capacity(requests.len());
        let mut buffer = Vec::with_capacity(1 << 16);
        for request in requests {
            let sent = Instant::now();
            stream.write_all(request).await?;
            answer(&mut stream, &mut buffer).await?;
            latencies.push(u32::try_from(sent.elapsed().as_micros())?);
        }
        anyhow::Ok(latencies)
    })?;
    latencies.sort_unstable();
    summary(&latencies, begun.elapsed())
}

/// Sends each of `requests` once, over so many connections at a time, and fails at the first answer that is not a 200 or 201.
///
/// # Errors
///
/// When the server cannot be reached or an answer is not as expected.
pub fn measure_each(
    server: SocketAddr,
    requests: &[Vec<u8>],
    connections: usize,
) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let requests: Arc<[Vec<u8>]> = requests.into();
    let begun = Instant::now();
    let mut latencies = runtime.block_on(async {
        let mut running = tokio::task::JoinSet::new();
        for first in 0..connections {
            let requests = requests.clone();
            running.spawn(async move {
                let mut stream = TcpStream::connect(server).await?;
                stream.set_nodelay(true)?;
                let mut buffer = Vec::with_capacity(1 << 16);
                let mut latencies = Vec::new();
                for request in requests.iter().skip(first).step_by(connections) {
                    let sent = Instant::now();
                    stream.write_all(request).await?;
                    answer(&mut stream, &mut buffer).await?;
                    latencies.push(u32::try_from(sent.elapsed().as_micros())?);
                }
                anyhow::Ok(latencies)
            });
        }
        let mut latencies: Vec<u32> = Vec::new();
        while let Some(finished) = running.join_next().await {
            latencies.extend(finished??);
        }
        anyhow::Ok(latencies)
    })?;
    latencies.sort_unstable();
    summary(&latencies, begun.elapsed())
}

/// What sorted latencies, in microseconds, of the answers in `duration` say.
fn summary(latencies: &[u32], duration: Duration) -> Result<Measured> {
    ensure!(!latencies.is_empty(), "no request was answered in time");
    let at = |share: f64| {
        let position = (latencies.len() as f64 * share) as usize;
        f64::from(latencies[position.min(latencies.len() - 1)]) / 1000.0
    };
    Ok(Measured {
        rate: latencies.len() as f64 / duration.as_secs_f64(),
        median: at(0.5),
        percentile_99: at(0.99),
    })
}

/// The latencies, in microseconds, of the requests of one connection that began between `start` and `end`.
async fn connection(
    server: SocketAddr,
    mut order: RandomOrder,
    start: Instant,
    end: Instant,
) -> Result<Vec<u32>> {
    let mut stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    let mut latencies = Vec::with_capacity(1 << 16);
    let mut buffer = Vec::with_capacity(1 << 16);
    loop {
        let sent = Instant::now();
        if sent >= end {
            return Ok(latencies);
        }
        stream.write_all(order.next_request()).await?;
        answer(&mut stream, &mut buffer).await?;
        if sent >= start {
            latencies.push(u32::try_from(sent.elapsed().as_micros())?);
        }
    }
}

/// Requests in an order that looks random and is the same in every run (xorshift).
struct RandomOrder {
    state: u64,
    requests: Arc<[Vec<u8>]>,
}

impl RandomOrder {
    fn new(number: usize, requests: Arc<[Vec<u8>]>) -> Self {
        let state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * number as u64 + 1);
        Self { state, requests }
    }

    fn next_request(&mut self) -> &[u8] {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let position = self.state % self.requests.len() as u64;
        &self.requests[position as usize]
    }
}

/// Reads one answer to its end.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.clear();
    let mut whole = usize::MAX;
    while buffer.len() < whole {
        ensure!(
            stream.read_buf(buffer).await? > 0,
            "the server closed the connection"
        );
        if whole == usize::MAX
            && let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n")
        {
            whole = end + 4 + body_length(&buffer[..end])?;
        }
    }
    if !buffer.starts_with(b"HTTP/1.1 200") && !buffer.starts_with(b"HTTP/1.1 201") {
        bail!("unexpected answer: {}", String::from_utf8_lossy(buffer));
    }
    Ok(())
}

fn body_length(head: &[u8]) -> Result<usize> {
    let head = std::str::from_utf8(head)?.to_ascii_lowercase();
    let value = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .context("an answer without content-length")?;
    Ok(value.trim().parse()?)
}
