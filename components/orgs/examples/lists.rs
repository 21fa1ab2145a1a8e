//! Measures lists and searches among few and among many organizations, natively and in memory.
//!
//! `cargo run --release -p gatehouse-orgs --example lists -- 1000 100000` makes so many in turn, in one store, and prints after each
//! number what one create, page and search costs.

use std::error::Error;
use std::time::Duration;

use gatehouse_orgs::{
    Attribute, Caller, Edition, Filter, Identity, OrganizationChanges, Organizations, Orgs,
    Principal, Viewer,
};
use gatehouse_ports::doubles::{
    CountingStore, ManualClock, MemoryStore, SeededRandom, name_in_no_order as name,
};

/// How long each row is measured.
const TIME: Duration = Duration::from_millis(500);

type Measured<'a> =
    Orgs<&'a CountingStore<MemoryStore<&'a ManualClock>>, &'a ManualClock, &'a SeededRandom>;

/// Time that this thread has had of a processor, so that what else runs on the machine does not count.
fn busy() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = counted
        .split(' ')
        .next()
        .and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

fn main() -> Result<(), Box<dyn Error>> {
    let clock = ManualClock::at_seconds(1_770_000_000);
    let random = SeededRandom::new(1);
    let store = CountingStore::new(MemoryStore::new(&clock));
    let orgs = Orgs::new(&store, &clock, &random).with_edition(Edition::Hosted);
    let mut made = 0;
    for count in std::env::args().skip(1) {
        let count: usize = count.parse()?;
        let begin = busy();
        let last_ones = count.saturating_sub(640).max(made);
        for number in made..last_ones {
            create(&orgs, number)?;
        }
        let between = busy();
        store.take_counts();
        for number in last_ones..count {
            create(&orgs, number)?;
        }
        let each = |time: Duration, number: usize| {
            u32::try_from(number.max(1)).map(|number| time / number)
        };
        println!(
            "{count} organizations: {:?} for each that was made, {:?} for each of the last",
            each(between - begin, last_ones - made)?,
            each(busy() - between, count - last_ones)?,
        );
        let (counts, last) = (store.take_counts(), (count - last_ones).max(1));
        println!(
            "  each of the last: {} reads, {} bytes read, {} rows written or removed, {} bytes written",
            counts.reads() / last,
            counts.value_bytes / last,
            counts.changes / last,
            counts.written_bytes / last,
        );
        made = count;
        let begin = busy();
        orgs.maintain()?;
        println!("  one round of upkeep: {:?}", busy() - begin);
        for _ in 0..4 {
            orgs.maintain()?;
        }
        let nothing = Filter::default;
        let either = |text: &str| Filter {
            name_or_email: Some(text.to_owned()),
            ..nothing()
        };
        let by_name = |text: &str| Filter {
            name: Some(text.to_owned()),
            ..nothing()
        };
        let by_email = |text: &str| Filter {
            email: Some(text.to_owned()),
            ..nothing()
        };
        let last = u32::try_from(count / 20)?;
        let page =
            |number: u32, filter: Filter| orgs.page_at(&Viewer::Everything, &filter, number, 20);
        measure(&store, "first page of 20", |_| page(1, nothing()))?;
        measure(&store, "any page of 20", |turn| {
            page(turn.wrapping_mul(7919) % last + 1, nothing())
        })?;
        measure(&store, "whole name, the same", |_| {
            page(1, either(&name(count / 2)))
        })?;
        measure(&store, "whole name, any", |turn| {
            page(1, either(&name(turn as usize * 7919 % count)))
        })?;
        measure(&store, "eight digits of a name, any", |turn| {
            let name = name(turn as usize * 7919 % count);
            page(1, by_name(name.get(6..14).unwrap_or_default()))
        })?;
        measure(&store, "e-mail address, any", |turn| {
            page(1, by_email(&format!("{}@ex", turn as usize * 7919 % count)))
        })?;
        measure(&store, "name that is not there", |_| {
            page(1, either("no-organization-has-this"))
        })?;
        let begin = busy();
        let found = page(1, either("@example."))?;
        println!(
            "  a part that all have: {:?}, {} found",
            busy() - begin,
            found.total
        );
    }
    Ok(())
}

fn create(orgs: &Measured<'_>, number: usize) -> Result<(), Box<dyn Error>> {
    let changes = OrganizationChanges {
        name: Attribute::Value(name(number)),
        email: Attribute::Value(format!("{number}@example.com")),
        ..OrganizationChanges::default()
    };
    let by = Caller {
        identity: Identity {
            principal: Principal::Installation,
            token_id: None,
        },
        request_id: "request".to_owned(),
        client_request_id: None,
    };
    orgs.create(&changes, None, &by)
        .map_err(|error| format!("{error:?}"))?;
    Ok(())
}

fn measure<T, E: Error + 'static, S>(
    store: &CountingStore<S>,
    what: &str,
    mut call: impl FnMut(u32) -> Result<T, E>,
) -> Result<(), Box<dyn Error>> {
    for turn in 0..20 {
        call(turn)?;
    }
    store.take_counts();
    let begin = busy();
    let mut turns = 0;
    while busy() - begin < TIME {
        for _ in 0..64 {
            call(turns)?;
            turns += 1;
        }
    }
    let each = (busy() - begin) / turns;
    let counts = store.take_counts();
    println!(
        "  {what}: {each:?}, {} calls, {} reads, {} bytes",
        counts.calls().0 / turns as usize,
        counts.reads() / turns as usize,
        counts.value_bytes / turns as usize,
    );
    Ok(())
}
