//! Measures if the time of a signature tells anything about the private key (SEC-K7): pairs of classes of inputs, measured by turns in
//! random order and compared by Welch's t, as dudect does.
//!
//! `cargo run --release -p gatehouse-auth-method --example signing_time -- [samples per class]`, on a quiet machine. It ends with
//! status 1 where |t| is above 10, which is no accident; from 4.5 on a longer run is called for. It is no part of CI: its result depends
//! on what else the machine does.
//!
//! Signing ends with a check of the signature, which runs in variable time over public values: a small difference between two messages or two
//! keys in a long run may be that of the check.

#![allow(clippy::print_stdout, reason = "its report")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use gatehouse_auth_method::rs256::SigningKey;
use gatehouse_ports::{OsRandom, Random, RandomError};

/// Samples of each class where the command line does not say.
const SAMPLES: usize = 3_000;
/// From here on a difference is worth another look.
const SUSPICIOUS: f64 = 4.5;
/// From here on a difference is certain.
const CERTAIN: f64 = 10.0;
/// Shares of the fastest measurements that are compared: interrupts make only slow ones.
const KEPT: [f64; 5] = [0.5, 0.75, 0.9, 0.99, 1.0];
/// Bytes of a message: about those of a signed assertion.
const MESSAGE_BYTES: usize = 512;

/// One measurement: its class, and nanoseconds.
type Sample = (bool, f64);

fn main() -> ExitCode {
    match compare() {
        Ok(worst) if worst < CERTAIN => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<f64, RandomError> {
    let given = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let samples = given.unwrap_or(SAMPLES);
    let random = OsRandom;
    let (one, other) = (
        SigningKey::generate(&random)?,
        SigningKey::generate(&random)?,
    );
    let fixed = [0x5a; MESSAGE_BYTES];
    let mut worst: f64 = 0.0;
    let mut judge = |what: &str, measured: Vec<Sample>| {
        let t = largest_t(measured);
        let verdict = match t {
            t if t >= CERTAIN => "it tells",
            t if t >= SUSPICIOUS => "run it for longer",
            _ => "nothing to see",
        };
        println!("{what}: |t| = {t:.2} over 2 x {samples} signatures: {verdict}");
        worst = worst.max(t);
    };
    judge(
        "the same message and random ones, one key",
        measure(samples, &random, |is_first| {
            let message = message(is_first.then_some(&fixed), &random)?;
            Ok((&one, message))
        })?,
    );
    judge(
        "random messages, two keys of one length",
        measure(samples, &random, |is_first| {
            Ok((
                if is_first { &one } else { &other },
                message(None, &random)?,
            ))
        })?,
    );
    judge(
        "no difference (what the machine itself makes)",
        measure(samples, &random, |_| Ok((&one, message(None, &random)?)))?,
    );
    Ok(worst)
}

/// A message: `fixed`, or random bytes. Both are made with the same work.
fn message(
    fixed: Option<&[u8; MESSAGE_BYTES]>,
    random: &OsRandom,
) -> Result<[u8; MESSAGE_BYTES], RandomError> {
    let mut bytes = [0; MESSAGE_BYTES];
    random.fill(&mut bytes)?;
    Ok(fixed.copied().unwrap_or(bytes))
}

/// Signs what `of` gives for the one class (`true`) and the other, by turns in random order.
fn measure<'a>(
    samples: usize,
    random: &OsRandom,
    of: impl Fn(bool) -> Result<(&'a SigningKey, [u8; MESSAGE_BYTES]), RandomError>,
) -> Result<Vec<Sample>, RandomError> {
    let mut measured = Vec::with_capacity(2 * samples);
    for _ in 0..2 * samples {
        let mut coin = [0];
        random.fill(&mut coin)?;
        let is_first = coin[0] & 1 == 0;
        let (key, message) = of(is_first)?;
        let began = Instant::now();
        let signature = black_box(key.sign(black_box(&message)));
        let took = began.elapsed();
        drop(signature);
        measured.push((is_first, took.as_secs_f64() * 1e9));
    }
    Ok(measured)
}

/// The largest |t| over what is kept of the measurements.
fn largest_t(mut measured: Vec<Sample>) -> f64 {
    measured.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a small number"
    )]
    let kept = |share: f64| (measured.len() as f64 * share) as usize;
    let ts = KEPT.map(|share| welch(measured.get(..kept(share)).unwrap_or(&measured)).abs());
    ts.into_iter().fold(0.0, f64::max)
}

/// Welch's t of the two classes.
fn welch(measured: &[Sample]) -> f64 {
    let (mean, spread) = moments(measured, true);
    let (other_mean, other_spread) = moments(measured, false);
    let error = (spread + other_spread).sqrt();
    if error > 0.0 {
        (mean - other_mean) / error
    } else {
        0.0
    }
}

/// Mean of a class, and the square of its standard error.
fn moments(measured: &[Sample], class: bool) -> (f64, f64) {
    let times = || measured.iter().filter(|(of, _)| *of == class);
    let count: f64 = times().map(|_| 1.0).sum();
    let mean = times().map(|(_, time)| time).sum::<f64>() / count.max(1.0);
    let squares: f64 = times().map(|(_, time)| (time - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0) / count.max(1.0))
}
