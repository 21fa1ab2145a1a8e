//! Organizations: one among few and among many, pages of their list, and a search through all of them.

use anyhow::Result;
use gatehouse_ports::doubles::name_in_no_order as name;
use gatehouse_tests::{Program, Storage};

use crate::cores::Cores;
use crate::load::{Measured, Target, measure_each, request};
use crate::report::{GATEHOUSE, Report};
use crate::{LOAD, any_of, prepared, repeated};

/// How many organizations are few, and how many are many.
const FEW: usize = 1_000;
const MANY: usize = 100_000;

/// Names another number of many, such as 1000000, which takes some gigabytes of memory.
const MANY_VARIABLE: &str = "GATEHOUSE_BENCH_ORGANIZATIONS";

const PAGE_SIZE: usize = 20;

/// How much more a page among many may cost than one among few.
const ALLOWED_RATIO: f64 = 1.3;

/// Measures every row and notes how the pages among many compare with those among few.
///
/// # Errors
///
/// When the server does not answer as expected.
pub fn run(cores: &Cores, report: &mut Report) -> Result<()> {
    let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Memory, "")?;
    let bench = Organizations {
        server,
        token: installation.root_token().to_owned(),
        connections: LOAD.connections,
    };
    let named = std::env::var(MANY_VARIABLE).ok();
    let many = named.map_or(Ok(MANY), |number| number.parse())?;
    bench.create(report, 0..FEW)?;
    let page_among_few = bench.reads(report, FEW)?;
    let search_among_few = bench.search(report, FEW)?;
    bench.create(report, FEW..many)?;
    let page_among_many = bench.reads(report, many)?;
    let search_among_many = bench.search(report, many)?;
    for (what, few, many_of_it) in [
        ("The first page", page_among_few, page_among_many),
        ("A search for any name", search_among_few, search_among_many),
    ] {
        let ratio = many_of_it.median / few.median;
        report.note(format!(
            "{what} of {PAGE_SIZE} among {many}: {ratio:.2} times that among {FEW} (p50; at most {ALLOWED_RATIO})."
        ));
    }

    let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Durable, "")?;
    let durable = Organizations {
        server,
        token: installation.root_token().to_owned(),
        connections: LOAD.connections,
    };
    report.row(
        GATEHOUSE,
        "organization create, durable",
        durable.created(0..2_000)?,
    );
    Ok(())
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
    fn get(&self, target: &str) -> Vec<u8> {
        request(
            "GET",
            &format!("/api/v2/organizations{target}"),
            Some(&self.token),
            "",
        )
    }

    /// Makes the organizations of these numbers.
    ///
    /// # Errors
    ///
    /// When one of them is refused.
    pub fn created(&self, numbers: std::ops::Range<usize>) -> Result<Measured> {
        let create = |number| {
            let name = name(number);
            let body = format!(
                r#"{{"data":{{"type":"organizations","attributes":{{"name":"{name}","email":"{number}@example.com"}}}}}}"#
            );
            request("POST", "/api/v2/organizations", Some(&self.token), &body)
        };
        let creates: Vec<Vec<u8>> = numbers.map(create).collect();
        measure_each(self.server, &creates, self.connections)
    }

    fn create(&self, report: &mut Report, numbers: std::ops::Range<usize>) -> Result<()> {
        let what = format!(
            "organization create, number {} to {}",
            numbers.start + 1,
            numbers.end
        );
        report.row(GATEHOUSE, &what, self.created(numbers)?);
        Ok(())
    }

    /// Returns what the first page costs.
    fn reads(&self, report: &mut Report, count: usize) -> Result<Measured> {
        let shows: Vec<Vec<u8>> = (0..count)
            .step_by(count / FEW)
            .map(|number| self.get(&format!("/{}", name(number))))
            .collect();
        let what = format!("organization show, among {count}");
        report.row(GATEHOUSE, &what, any_of(self.server, &what, &shows)?);
        let page = |number: usize| {
            self.get(&format!(
                "?page%5Bnumber%5D={number}&page%5Bsize%5D={PAGE_SIZE}"
            ))
        };
        let pages = count / PAGE_SIZE;
        let what = |which| format!("{which} page of {PAGE_SIZE}, among {count}");
        let first = repeated(self.server, &what("first"), &page(1))?;
        report.row(GATEHOUSE, &what("first"), first);
        let any: Vec<Vec<u8>> = (1..=pages).step_by(pages.div_ceil(FEW)).map(page).collect();
        let measured = any_of(self.server, &what("any"), &any)?;
        report.row(GATEHOUSE, &what("any"), measured);
        let last = repeated(self.server, &what("last"), &page(pages))?;
        report.row(GATEHOUSE, &what("last"), last);
        Ok(first)
    }

    /// Returns what a search costs that finds one organization, another one each time.
    fn search(&self, report: &mut Report, count: usize) -> Result<Measured> {
        let page = format!("&page%5Bsize%5D={PAGE_SIZE}");
        for (what, text) in [
            ("that one has", name(count / 2)),
            ("that none has", "none-has-this".to_owned()),
        ] {
            let search = self.get(&format!("?q={text}{page}"));
            let what = format!("search for a name {what}, among {count}");
            report.row(GATEHOUSE, &what, repeated(self.server, &what, &search)?);
        }
        let any: Vec<Vec<u8>> = (0..count)
            .step_by(count / FEW)
            .map(|number| self.get(&format!("?q={}{page}", name(number))))
            .collect();
        let what = format!("search for any name, among {count}");
        let measured = any_of(self.server, &what, &any)?;
        report.row(GATEHOUSE, &what, measured);
        Ok(measured)
    }
}
