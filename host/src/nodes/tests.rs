//! Servers on a list in memory, whose time is made by the test.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

use gatehouse_ports::StoreError;
use gatehouse_store::Answer;

use super::*;

const NOW: u64 = 1_795_255_200_000;

/// A list of servers, and the clock of its store.
struct List {
    now: AtomicU64,
    nodes: Mutex<BTreeMap<String, LiveNode>>,
    leases: Mutex<BTreeMap<String, (String, u64)>>,
    is_away: AtomicBool,
    /// The texts of its failures, one after the other, the first one again after the last.
    reasons: &'static [&'static str],
    failures: AtomicUsize,
}

impl List {
    fn new() -> Arc<Self> {
        Self::failing_for(&["it is away"])
    }

    fn failing_for(reasons: &'static [&'static str]) -> Arc<Self> {
        Arc::new(Self {
            now: AtomicU64::new(NOW),
            nodes: Mutex::default(),
            leases: Mutex::default(),
            is_away: AtomicBool::default(),
            reasons,
            failures: AtomicUsize::default(),
        })
    }

    /// Lets time pass for the store and for the servers.
    async fn pass(&self, time: Duration) {
        let passed = u64::try_from(time.as_millis()).unwrap();
        self.now.fetch_add(passed, Ordering::SeqCst);
        tokio::time::advance(time).await;
    }

    fn now(&self) -> Result<u64, StoreError> {
        match self.is_away.load(Ordering::SeqCst) {
            true => {
                let before = self.failures.fetch_add(1, Ordering::SeqCst);
                let reason = self.reasons[before % self.reasons.len()];
                Err(StoreError::Unavailable(reason.to_owned()))
            }
            false => Ok(self.now.load(Ordering::SeqCst)),
        }
    }
}

fn after(now: u64, time: Duration) -> u64 {
    now + u64::try_from(time.as_millis()).unwrap()
}

impl Roster for List {
    fn beat<'a>(&'a self, node: &'a Node, clock: u64) -> Answer<'a, Result<Roll, StoreError>> {
        Box::pin(async move {
            let now = self.now()?;
            let mut nodes = self.nodes.lock().unwrap();
            let known = nodes.get(&node.id).map(|known| known.started_at);
            let live = LiveNode {
                node: node.clone(),
                started_at: known.unwrap_or(now),
                seen_at: now,
                clock,
            };
            nodes.insert(node.id.clone(), live);
            let runs = |live: &&LiveNode| after(live.seen_at, LIVE_FOR) > now;
            let mut live: Vec<_> = nodes.values().filter(runs).cloned().collect();
            live.sort_by_key(|live: &LiveNode| live.started_at);
            Ok(Roll { now, live })
        })
    }

    fn take_lease<'a>(
        &'a self,
        work: &'a str,
        node: &'a Node,
        time: Duration,
    ) -> Answer<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let now = self.now()?;
            let mut leases = self.leases.lock().unwrap();
            let is_free = leases
                .get(work)
                .is_none_or(|(holder, end)| *holder == node.id || *end <= now);
            if is_free {
                leases.insert(work.to_owned(), (node.id.clone(), after(now, time)));
            }
            Ok(is_free)
        })
    }

    fn leave<'a>(&'a self, node: &'a Node) -> Answer<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.now()?;
            self.nodes.lock().unwrap().remove(&node.id);
            self.leases
                .lock()
                .unwrap()
                .retain(|_, (holder, _)| *holder != node.id);
            Ok(())
        })
    }

    fn is_away(&self) -> bool {
        self.is_away.load(Ordering::SeqCst)
    }
}

/// The clock of one machine, which is ahead of the store's by so many milliseconds.
struct MachineClock {
    list: Arc<List>,
    ahead: AtomicI64,
}

impl Clock for MachineClock {
    fn now_milliseconds(&self) -> u64 {
        let now = self.list.now.load(Ordering::SeqCst);
        now.saturating_add_signed(self.ahead.load(Ordering::SeqCst))
    }

    fn sleep(&self, _: Duration) {}
}

/// The last that was told.
#[derive(Default)]
struct Told {
    live: AtomicU64,
    clock_ahead: AtomicI64,
    works: AtomicBool,
}

impl NodesWatch for Told {
    fn counted(&self, live: usize, clock_ahead: i64) {
        self.live.store(live as u64, Ordering::SeqCst);
        self.clock_ahead.store(clock_ahead, Ordering::SeqCst);
    }

    fn works(&self, works: bool) {
        self.works.store(works, Ordering::SeqCst);
    }
}

struct Subject {
    nodes: Nodes,
    told: Arc<Told>,
    clock: Arc<MachineClock>,
}

fn server(list: &Arc<List>, name: &str, works: bool) -> Subject {
    let clock = Arc::new(MachineClock {
        list: Arc::clone(list),
        ahead: AtomicI64::new(0),
    });
    let told = Arc::new(Told::default());
    let introduction = Introduction {
        name: name.to_owned(),
        address: Some(format!("http://{name}:8200")),
        works,
    };
    let roster = Arc::clone(list) as Arc<dyn Roster>;
    let nodes = Nodes::new(roster, introduction, clock.clone(), told.clone()).unwrap();
    Subject { nodes, told, clock }
}

fn names(nodes: &Nodes) -> Vec<String> {
    let nodes = nodes.nodes().unwrap();
    let others = nodes.others.into_iter().map(|node| node.name);
    std::iter::once(nodes.this.name).chain(others).collect()
}

#[tokio::test(start_paused = true)]
async fn every_server_lists_itself_first_and_those_that_were_seen_within_15_seconds() {
    let list = List::new();
    let [one, two] = ["one", "two"].map(|name| server(&list, name, true));
    one.nodes.beat().await.unwrap();
    two.nodes.beat().await.unwrap();
    assert_eq!(names(&one.nodes), ["one"], "it has not asked since");
    assert_eq!(names(&two.nodes), ["two", "one"]);
    list.pass(BEAT).await;
    one.nodes.beat().await.unwrap();
    assert_eq!(names(&one.nodes), ["one", "two"]);
    assert_eq!(
        (one.nodes.live(), one.told.live.load(Ordering::SeqCst)),
        (2, 2)
    );
    // The other one stands still.
    list.pass(Duration::from_millis(9_999)).await;
    one.nodes.beat().await.unwrap();
    assert_eq!(one.nodes.live(), 2);
    list.pass(Duration::from_millis(1)).await;
    one.nodes.beat().await.unwrap();
    assert_eq!(names(&one.nodes), ["one"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_is_not_counted_any_more_and_lets_go_of_the_work() {
    let list = List::new();
    let [one, two] = ["one", "two"].map(|name| server(&list, name, true));
    one.nodes.beat().await.unwrap();
    two.nodes.beat().await.unwrap();
    assert!(one.nodes.works() && !two.nodes.works());
    one.nodes.leave().await;
    assert!(!one.nodes.works());
    two.nodes.beat().await.unwrap();
    assert_eq!(names(&two.nodes), ["two"]);
    assert!(two.nodes.works());
    assert!(two.told.works.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn one_server_at_a_time_works_for_all_and_one_that_falls_silent_is_succeeded() {
    let list = List::new();
    let all = ["one", "two", "three"].map(|name| server(&list, name, true));
    let beat_all = async |from: usize| {
        for subject in &all[from..] {
            subject.nodes.beat().await.unwrap();
        }
    };
    let working = || all.each_ref().map(|subject| subject.nodes.works());
    for _ in 0..10 {
        beat_all(0).await;
        assert_eq!(working(), [true, false, false]);
        list.pass(BEAT).await;
    }
    // Its own lease ends for it no later than for the others.
    let mut silent = BEAT;
    while silent < LEASE {
        beat_all(1).await;
        assert_eq!(working(), [true, false, false], "{silent:?}");
        list.pass(BEAT).await;
        silent += BEAT;
    }
    assert_eq!(working(), [false; 3]);
    beat_all(1).await;
    assert_eq!(working(), [false, true, false]);
    // Back again, it does not take the work from the other.
    beat_all(0).await;
    assert_eq!(working(), [false, true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_background_work_leaves_it_to_others() {
    let list = List::new();
    let [idle, busy] = [server(&list, "idle", false), server(&list, "busy", true)];
    idle.nodes.beat().await.unwrap();
    busy.nodes.beat().await.unwrap();
    assert!(!idle.nodes.works() && busy.nodes.works());
}

#[tokio::test(start_paused = true)]
async fn without_the_store_the_others_are_still_counted_and_the_work_is_let_go() {
    let list = List::new();
    let [one, two] = ["one", "two"].map(|name| server(&list, name, true));
    for subject in [&one, &two, &one] {
        subject.nodes.beat().await.unwrap();
    }
    list.is_away.store(true, Ordering::SeqCst);
    assert!(one.nodes.is_away());
    for _ in 0..3 {
        list.pass(BEAT).await;
        assert!(one.nodes.beat().await.is_err());
    }
    // A share of the limits that grew because the store is away would be more than all servers together may take.
    assert_eq!(one.nodes.live(), 2);
    assert!(!one.nodes.works());
    assert!(!one.told.works.load(Ordering::SeqCst));
    list.is_away.store(false, Ordering::SeqCst);
    one.nodes.beat().await.unwrap();
    assert_eq!(one.nodes.live(), 1);
    assert!(one.nodes.works());
}

#[tokio::test(start_paused = true)]
async fn clocks_that_differ_by_more_than_two_seconds_are_told_until_they_agree() {
    let list = List::new();
    let subject = server(&list, "one", true);
    for (ahead, differs) in [
        (0, false),
        (2_000, false),
        (2_001, true),
        (-5_000, true),
        (-2_000, false),
    ] {
        subject.clock.ahead.store(ahead, Ordering::SeqCst);
        subject.nodes.beat().await.unwrap();
        assert_eq!(subject.nodes.lock().differs, differs, "{ahead}");
        assert_eq!(subject.told.clock_ahead.load(Ordering::SeqCst), ahead);
        assert_eq!(subject.nodes.nodes().unwrap().this.clock_ahead, ahead);
    }
    subject.clock.ahead.store(-4_000, Ordering::SeqCst);
    subject.nodes.beat().await.unwrap();
    let other = server(&list, "two", true);
    other.nodes.beat().await.unwrap();
    let seen = other.nodes.nodes().unwrap().others;
    assert_eq!(seen[0].clock_ahead, -4_000, "others see it as well");
}

#[tokio::test(start_paused = true)]
async fn beats_go_on_until_the_stop() {
    let list = List::new();
    let subject = server(&list, "one", true);
    let stop = sleep(4 * BEAT + BEAT / 2);
    subject.nodes.repeat(stop).await;
    assert_eq!(list.nodes.lock().unwrap().len(), 1);
    subject.nodes.leave().await;
    assert!(list.nodes.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_which_the_reason_changes_is_told_for_each_reason_until_it_ends() {
    const REASONS: [&str; 3] = ["connection refused", "it starts", "wrong password"];
    let list = List::failing_for(&REASONS);
    let subject = server(&list, "one", true);
    list.is_away.store(true, Ordering::SeqCst);
    // Each reason several times.
    let stop = sleep(10 * BEAT_AGAIN + BEAT_AGAIN / 2);
    subject.nodes.repeat(stop).await;
    assert!(list.failures.load(Ordering::SeqCst) > 2 * REASONS.len());
    let is_news = |reason: &str| {
        let error = StoreError::Unavailable(reason.to_owned());
        subject.nodes.lock().outage.is_news(&error)
    };
    for reason in REASONS {
        assert!(!is_news(reason), "{reason} was told");
    }
    list.is_away.store(false, Ordering::SeqCst);
    subject.nodes.repeat(sleep(BEAT / 2)).await;
    assert!(is_news(REASONS[0]), "another outage would be told");
}
