//! Organizations: one among few and among many, pages of their list, a search through all of them, and what making one costs.
//!
//! The many are [made once](kept) and kept; all stores are durable.

mod held_rows;
mod kept;

use std::ops::Range;

use anyhow::{Context as _, Result, ensure};
use gatehouse_ports::doubles::name_in_no_order as name;
use gatehouse_tests::{Program, Storage};

use crate::cores::Cores;
use crate::load::{Measured, Target, measure_each, request};
use crate::report::{GATEHOUSE, Report};
use crate::{LOAD, any_of, prepared, repeated, target};
use kept::Kept;

/// How many organizations are few, and how many are many.
const FEW: usize = 1_000;
const MANY: usize = 100_000;

/// Names another number of many, such as 1000000, which takes some gigabytes of memory to make.
const MANY_VARIABLE: &str = "GATEHOUSE_BENCH_ORGANIZATIONS";

const PAGE_SIZE: usize = 20;

/// How much more a page among many may cost than one among few.
const ALLOWED_RATIO: f64 = 1.3;

/// Creations are measured in so many rounds of so many, of which the median counts.
const ROUNDS: usize = 5;
const CREATED_IN_ROUND: usize = 1_000;

/// Measures every row and notes how those among many compare with those among few.
///
/// # Errors
///
/// When the server does not answer as expected.
pub fn run(cores: &Cores, report: &mut Report) -> Result<()> {
    let named = std::env::var(MANY_VARIABLE).ok();
    let many = named.map_or(Ok(MANY), |number| number.parse())?;
    ensure!(many >= FEW, "{MANY_VARIABLE}: many are at least {FEW}");
    // Made before a server has a core to itself.
    let kept = Kept::open(cores, many)?;

    let [page_among_few, search_among_few] = {
        let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Durable, "")?;
        let few = Organizations::new(server, installation.root_token());
        few.created(0..FEW)?;
        [few.reads(report, FEW)?, few.search(report, FEW)?]
    };
    let mut installation = kept.start_server(cores)?;
    let among_many = Organizations::new(target(&mut installation)?, installation.root_token());
    let page_among_many = among_many.reads(report, many)?;
    let search_among_many = among_many.search(report, many)?;
    for (what, few, many_of_it) in [
        ("The first page", page_among_few, page_among_many),
        ("A search for any name", search_among_few, search_among_many),
    ] {
        let ratio = many_of_it.median / few.median;
        report.note(format!(
            "{what} of {PAGE_SIZE} among {many}: {ratio:.2} times that among {FEW} (p50; at most {ALLOWED_RATIO})."
        ));
    }
    creations(cores, report, &among_many, many)
}

/// Makes as many organizations in a new store as among many, a round here and a round there, and notes how they compare.
fn creations(
    cores: &Cores,
    report: &mut Report,
    among_many: &Organizations,
    many: usize,
) -> Result<()> {
    let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Durable, "")?;
    let new = Organizations::new(server, installation.root_token());
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for begin in (0..ROUNDS).map(|round| round * CREATED_IN_ROUND) {
        first.push(new.created(begin..begin + CREATED_IN_ROUND)?);
        let begin = many + begin;
        last.push(among_many.created(begin..begin + CREATED_IN_ROUND)?);
    }
    let [first, last] = [(0, first), (many, last)].map(|(before, rounds)| {
        let what = format!(
            "organization create, number {} to {}, durable",
            before + 1,
            before + ROUNDS * CREATED_IN_ROUND
        );
        let measured = median(rounds)?;
        report.row(GATEHOUSE, &what, measured);
        anyhow::Ok(measured)
    });
    let (first, last) = (first?, last?);
    let cost = |measured: Measured| measured.cpu_micros.context("no processor time");
    report.note(format!(
        "Making organizations after the first {many}: {:.2} times the rate and {:.2} times the processor time of the first (medians of \
         {ROUNDS} rounds of {CREATED_IN_ROUND} each, in turns).",
        last.rate / first.rate,
        cost(last)? / cost(first)?
    ));
    Ok(())
}

/// The round with the median rate.
fn median(mut rounds: Vec<Measured>) -> Result<Measured> {
    rounds.sort_by(|left, right| left.rate.total_cmp(&right.rate));
    let middle = rounds.get(rounds.len() / 2);
    middle.copied().context("no round")
}

/// The e-mail address of the organization of this number.
fn email(number: usize) -> String {
    format!("{number}@example.com")
}

/// An installation whose organizations are made, shown and listed.
pub struct Organizations {
    pub server: Target,
    /// A token that may make organizations and sees all of them.
    pub token: String,
    /// How many clients make organizations.
    pub connections: usize,
}

impl Organizations {
    /// Those of an installation whose administrator has this token.
    pub fn new(server: Target, token: &str) -> Self {
        Self {
            server,
            token: token.to_owned(),
            connections: LOAD.connections,
        }
    }

    fn get(&self, target: &str) -> Vec<u8> {
        request(
            "GET",
            &format!("/api/v2/organizations{target}"),
            Some(&self.token),
            "",
        )
    }

    /// The request for a page of the list, counted from 1.
    pub fn page(&self, number: usize) -> Vec<u8> {
        self.get(&format!(
            "?page%5Bnumber%5D={number}&page%5Bsize%5D={PAGE_SIZE}"
        ))
    }

    /// The request for the first page of what has this text in its name or address.
    pub fn search_for(&self, text: &str) -> Vec<u8> {
        self.get(&format!("?q={text}&page%5Bsize%5D={PAGE_SIZE}"))
    }

    /// Makes the organizations of these numbers.
    ///
    /// # Errors
    ///
    /// When one of them is refused.
    pub fn created(&self, numbers: Range<usize>) -> Result<Measured> {
        let create = |number| {
            let name = name(number);
            let body = format!(
                r#"{{"data":{{"type":"organizations","attributes":{{"name":"{name}","email":"{}"}}}}}}"#,
                email(number)
            );
            request("POST", "/api/v2/organizations", Some(&self.token), &body)
        };
        let creates: Vec<Vec<u8>> = numbers.map(create).collect();
        measure_each(self.server, &creates, self.connections)
    }

    /// Returns what the first page costs.
    fn reads(&self, report: &mut Report, count: usize) -> Result<Measured> {
        let shows: Vec<Vec<u8>> = (0..count)
            .step_by(count / FEW)
            .map(|number| self.get(&format!("/{}", name(number))))
            .collect();
        let what = format!("organization show, among {count}, durable");
        report.row(GATEHOUSE, &what, any_of(self.server, &what, &shows)?);
        let pages = count / PAGE_SIZE;
        let what = |which| format!("{which} page of {PAGE_SIZE}, among {count}, durable");
        let first = repeated(self.server, &what("first"), &self.page(1))?;
        report.row(GATEHOUSE, &what("first"), first);
        let any: Vec<Vec<u8>> = (1..=pages)
            .step_by(pages.div_ceil(FEW))
            .map(|number| self.page(number))
            .collect();
        let measured = any_of(self.server, &what("any"), &any)?;
        report.row(GATEHOUSE, &what("any"), measured);
        let last = repeated(self.server, &what("last"), &self.page(pages))?;
        report.row(GATEHOUSE, &what("last"), last);
        Ok(first)
    }

    /// Returns what a search costs that finds one organization, another one each time.
    fn search(&self, report: &mut Report, count: usize) -> Result<Measured> {
        for (what, text) in [
            ("that one has", name(count / 2)),
            ("that none has", "none-has-this".to_owned()),
        ] {
            let search = self.search_for(&text);
            let what = format!("search for a name {what}, among {count}, durable");
            report.row(GATEHOUSE, &what, repeated(self.server, &what, &search)?);
        }
        let any: Vec<Vec<u8>> = (0..count)
            .step_by(count / FEW)
            .map(|number| self.search_for(&name(number)))
            .collect();
        let what = format!("search for any name, among {count}, durable");
        let measured = any_of(self.server, &what, &any)?;
        report.row(GATEHOUSE, &what, measured);
        Ok(measured)
    }
}
