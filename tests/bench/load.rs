//! A bounded load of equal requests over connections that stay open.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use gatehouse_postgres_server::PostgresServer;
use rustix::process::Pid;
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

/// The result of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Answers per second.
    pub rate: f64,
    /// The latency that half of the requests stayed below, in milliseconds.
    pub median: f64,
    /// The latency that 99 of 100 requests stayed below, in milliseconds.
    pub percentile_99: f64,
    /// Answers in all, with those that do not count.
    pub count: usize,
    /// Microseconds of processor time that the server took for one request, where that is known.
    pub cpu_micros: Option<f64>,
}

/// A server under load.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its process, whose processor time is counted.
    pub process: u32,
}

/// Processor time that processes have taken so far, in user and system mode.
///
/// # Errors
///
/// When one of them is gone.
pub fn processor_time(processes: &[u32]) -> Result<Duration> {
    let mut ticks = 0;
    for process in processes {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The name of the program, in parentheses, may have spaces.
        let (_, rest) = text.rsplit_once(')').context("no stat of a process")?;
        let fields = rest.split_ascii_whitespace().skip(11).take(2);
        ticks += fields
            .map(|ticks| ticks.parse::<u64>().unwrap_or_default())
            .sum::<u64>();
    }
    Ok(Duration::from_secs(ticks) / u32::try_from(rustix::param::clock_ticks_per_second())?)
}

/// The same of the processes that a database server has now.
///
/// # Errors
///
/// When one of them has ended meanwhile.
pub fn processor_time_of(database: &PostgresServer) -> Result<Duration> {
    let number = |process: &Pid| process.as_raw_nonzero().get().unsigned_abs();
    let processes: Vec<u32> = database.processes().iter().map(number).collect();
    processor_time(&processes)
}

/// Runs `load`, whose latencies are counted over `counted` of its time or else over all of it, and sets what the servers took beside it.
fn under(
    servers: &[Target],
    counted: Option<Duration>,
    load: impl Future<Output = Result<Answered>>,
) -> Result<Measured> {
    let processes: Vec<u32> = servers.iter().map(|server| server.process).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (begun, cpu) = (Instant::now(), processor_time(&processes)?);
    let mut answered = runtime.block_on(load)?;
    let elapsed = begun.elapsed();
    let cpu = processor_time(&processes)?.saturating_sub(cpu);
    answered.latencies.sort_unstable();
    let mut measured = summary(&answered.latencies, counted.unwrap_or(elapsed))?;
    measured.count = answered.count;
    measured.cpu_micros = Some(cpu.as_secs_f64() * 1e6 / answered.count as f64);
    Ok(measured)
}

/// The answers to a load.
#[derive(Debug, Default)]
struct Answered {
    /// Microseconds of each that counts.
    latencies: Vec<u32>,
    /// How many there were with those that do not count.
    count: usize,
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
pub fn measure(server: Target, requests: &[Vec<u8>], load: Load) -> Result<Measured> {
    measure_over(&[server], requests, load)
}

/// The same over several servers, each with its share of the connections.
///
/// # Errors
///
/// When a server cannot be reached or an answer is not as expected.
pub fn measure_over(servers: &[Target], requests: &[Vec<u8>], load: Load) -> Result<Measured> {
    let requests: Arc<[Vec<u8>]> = requests.into();
    under(servers, Some(load.duration), async {
        let start = Instant::now() + load.duration / 5;
        let end = start + load.duration;
        let mut connections = tokio::task::JoinSet::new();
        for (number, server) in (0..load.connections).zip(servers.iter().cycle()) {
            let order = RandomOrder::new(number, requests.clone());
            connections.spawn(connection(server.address, order, start, end));
        }
        let mut all = Answered::default();
        while let Some(finished) = connections.join_next().await {
            let answered = finished??;
            all.latencies.extend(answered.latencies);
            all.count += answered.count;
        }
        Ok(all)
    })
}

/// Sends each of `requests` once, over so many connections at a time, and fails at the first answer that is not a 200 or 201.
///
/// # Errors
///
/// When the server cannot be reached or an answer is not as expected.
pub fn measure_each(server: Target, requests: &[Vec<u8>], connections: usize) -> Result<Measured> {
    let requests: Arc<[Vec<u8>]> = requests.into();
    under(&[server], None, async {
        let mut running = tokio::task::JoinSet::new();
        for first in 0..connections {
            let requests = requests.clone();
            running.spawn(async move {
                let mut stream = TcpStream::connect(server.address).await?;
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
        let count = latencies.len();
        Ok(Answered { latencies, count })
    })
}

/// The result of sorted latencies, in microseconds, of the answers in `duration`.
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
        count: latencies.len(),
        cpu_micros: None,
    })
}

/// The answers of one connection until `end`, of which those count that were asked for after `start`.
async fn connection(
    server: SocketAddr,
    mut order: RandomOrder,
    start: Instant,
    end: Instant,
) -> Result<Answered> {
    let mut stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    let mut answered = Answered {
        latencies: Vec::with_capacity(1 << 16),
        count: 0,
    };
    let mut buffer = Vec::with_capacity(1 << 16);
    loop {
        let sent = Instant::now();
        if sent >= end {
            return Ok(answered);
        }
        stream.write_all(order.next_request()).await?;
        answer(&mut stream, &mut buffer).await?;
        answered.count += 1;
        if sent >= start {
            answered
                .latencies
                .push(u32::try_from(sent.elapsed().as_micros())?);
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
