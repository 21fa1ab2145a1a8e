//! Organizations: one among few and among many, pages of their list, and a search through all of them.

use std::net::SocketAddr;

use anyhow::Result;
use gatehouse_tests::{Program, Storage};

use crate::cores::Cores;
use crate::load::{Measured, measure_each, request};
use crate::{LOAD, prepared, print, row, row_of_any};

/// How many organizations are few, and how many are many.
const FEW: usize = 1_000;
const MANY: usize = 100_000;

/// Names another number of many, such as 1000000, which takes some gigabytes of memory.
const MANY_VARIABLE: &str = "GATEHOUSE_BENCH_ORGANIZATIONS";

const PAGE_SIZE: usize = 20;

/// How much more a page among many may cost than one among few.
const ALLOWED_RATIO: f64 = 1.3;

/// Measures every row and prints how the pages among many compare with those among few.
///
/// # Errors
///
/// When the server does not answer as expected.
pub fn run(cores: &Cores) -> Result<()> {
    let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Memory, "")?;
    let bench = Bench {
        server,
        token: installation.root_token().to_owned(),
    };
    let named = std::env::var(MANY_VARIABLE).ok();
    let many = named.map_or(Ok(MANY), |number| number.parse())?;
    bench.create(0..FEW)?;
    let page_among_few = bench.reads(FEW)?;
    let search_among_few = bench.search(FEW)?;
    bench.create(FEW..many)?;
    let page_among_many = bench.reads(many)?;
    let search_among_many = bench.search(many)?;
    for (what, few, many_of_it) in [
        ("the first page", page_among_few, page_among_many),
        ("a search for any name", search_among_few, search_among_many),
    ] {
        let ratio = many_of_it.median / few.median;
        println!(
            "\n{what} of {PAGE_SIZE} among {many}: {ratio:.2} times that among {FEW} (p50; at most {ALLOWED_RATIO})"
        );
    }

    let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Durable, "")?;
    let durable = Bench {
        server,
        token: installation.root_token().to_owned(),
    };
    print(
        "gatehouse: organization create, durable",
        durable.created(0..2_000)?,
    );
    Ok(())
}

struct Bench {
    server: SocketAddr,
    token: String,
}

impl Bench {
    fn get(&self, target: &str) -> Vec<u8> {
        request(
            "GET",
            &format!("/api/v2/organizations{target}"),
            Some(&self.token),
            "",
        )
    }

    /// Makes the organizations of these numbers.
    fn created(&self, numbers: std::ops::Range<usize>) -> Result<Measured> {
        let create = |number| {
            let name = name(number);
            let body = format!(
                r#"{{"data":{{"type":"organizations","attributes":{{"name":"{name}","email":"{number}@example.com"}}}}}}"#
            );
            request("POST", "/api/v2/organizations", Some(&self.token), &body)
        };
        let creates: Vec<Vec<u8>> = numbers.map(create).collect();
        measure_each(self.server, &creates, LOAD.connections)
    }

    fn create(&self, numbers: std::ops::Range<usize>) -> Result<()> {
        let what = format!(
            "gatehouse: organization create, number {} to {}",
            numbers.start + 1,
            numbers.end
        );
        print(&what, self.created(numbers)?);
        Ok(())
    }

    /// Returns what the first page costs.
    fn reads(&self, count: usize) -> Result<Measured> {
        let shows: Vec<Vec<u8>> = (0..count)
            .step_by(count / FEW)
            .map(|number| self.get(&format!("/{}", name(number))))
            .collect();
        row_of_any(
            &format!("gatehouse: organization show, among {count}"),
            self.server,
            &shows,
        )?;
        let page = |number: usize| {
            self.get(&format!(
                "?page%5Bnumber%5D={number}&page%5Bsize%5D={PAGE_SIZE}"
            ))
        };
        let pages = count / PAGE_SIZE;
        let what = |which| format!("gatehouse: {which} page of {PAGE_SIZE}, among {count}");
        let first = row(&what("first"), self.server, &page(1))?;
        let any: Vec<Vec<u8>> = (1..=pages).step_by(pages.div_ceil(FEW)).map(page).collect();
        row_of_any(&what("any"), self.server, &any)?;
        row(&what("last"), self.server, &page(pages))?;
        Ok(first)
    }

    /// Returns what a search costs that finds one organization, another one each time.
    fn search(&self, count: usize) -> Result<Measured> {
        let page = format!("&page%5Bsize%5D={PAGE_SIZE}");
        for (what, text) in [
            ("that one has", name(count / 2)),
            ("that nobody has", "nobody-has-this".to_owned()),
        ] {
            let search = self.get(&format!("?q={text}{page}"));
            row(
                &format!("gatehouse: search for a name {what}, among {count}"),
                self.server,
                &search,
            )?;
        }
        let any: Vec<Vec<u8>> = (0..count)
            .step_by(count / FEW)
            .map(|number| self.get(&format!("?q={}{page}", name(number))))
            .collect();
        row_of_any(
            &format!("gatehouse: search for any name, among {count}"),
            self.server,
            &any,
        )
    }
}

/// A name as clients' tests make them, in no order, and the same in every run (splitmix64).
fn name(number: usize) -> String {
    let mut bits = (number as u64)
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    format!("tst-{bits:016x}-{number:012x}")
}
