use std::sync::atomic::{AtomicU64, Ordering};

use gatehouse_store::MemoryBackend;

use super::*;

/// A machine whose clocks are set by hand: the system's, and the one that only goes forward.
#[derive(Default)]
struct Machine {
    system: AtomicU64,
    elapsed: AtomicU64,
    steps: Arc<Steps>,
}

/// How often the clock was set.
#[derive(Default)]
struct Steps {
    forward: AtomicU64,
    backward: AtomicU64,
}

impl ClockWatch for Steps {
    fn stepped(&self, forward: bool) {
        let steps = if forward {
            &self.forward
        } else {
            &self.backward
        };
        steps.fetch_add(1, Ordering::SeqCst);
    }

    fn doubted(&self, _: bool) {}
}

impl Machine {
    fn at(system: u64) -> Arc<Self> {
        let machine = Self::default();
        machine.system.store(system, Ordering::SeqCst);
        Arc::new(machine)
    }

    fn pass(&self, milliseconds: u64) {
        self.system.fetch_add(milliseconds, Ordering::SeqCst);
        self.elapsed.fetch_add(milliseconds, Ordering::SeqCst);
    }

    /// How often a clock of this machine was set forward, and backward.
    fn steps(&self) -> (u64, u64) {
        let count = |steps: &AtomicU64| steps.load(Ordering::SeqCst);
        (count(&self.steps.forward), count(&self.steps.backward))
    }

    fn set(&self, system: u64) {
        self.system.store(system, Ordering::SeqCst);
    }

    fn clock(self: &Arc<Self>) -> SteadyClock {
        let machine = Arc::clone(self);
        let read = move || Reading {
            system: machine.system.load(Ordering::SeqCst),
            elapsed: Duration::from_millis(machine.elapsed.load(Ordering::SeqCst)),
        };
        SteadyClock::reading(Box::new(read), self.steps.clone())
    }
}

const NOW: u64 = 1_795_255_200_000;
const YEAR: u64 = 365 * 24 * 3_600_000;

#[test]
fn t6_a_clock_that_is_set_back_stands_for_nothing_and_time_goes_on() {
    let machine = Machine::at(NOW);
    let clock = machine.clock();
    machine.pass(1_000);
    assert_eq!(clock.now(), NOW + 1_000);
    machine.set(NOW - YEAR);
    assert_eq!(clock.now(), NOW + 1_000);
    machine.pass(500);
    assert_eq!(clock.now(), NOW + 1_500);
    assert_eq!(machine.steps(), (0, 1), "told once, not at every question");
    machine.set(NOW + 2_000);
    assert_eq!(clock.now(), NOW + 2_000);
    machine.set(NOW - YEAR);
    assert_eq!(clock.now(), NOW + 2_000);
    assert_eq!(machine.steps(), (0, 2));
}

#[test]
fn t6_a_year_forward_counts_and_is_told_and_the_way_back_does_not_count() {
    let machine = Machine::at(NOW);
    let clock = machine.clock();
    machine.set(NOW + YEAR);
    assert_eq!(clock.now(), NOW + YEAR);
    assert_eq!(machine.steps(), (1, 0));
    machine.set(NOW);
    assert_eq!(clock.now(), NOW + YEAR);
    assert_eq!(machine.steps(), (1, 1));
}

#[test]
fn t6_leap_seconds_and_slow_clocks_are_no_steps() {
    let machine = Machine::at(NOW);
    let clock = machine.clock();
    machine.pass(60_000);
    machine.set(NOW + 59_000);
    assert_eq!(clock.now(), NOW + 60_000);
    machine.set(NOW + 61_000);
    assert_eq!(clock.now(), NOW + 61_000);
    // A clock that stands still.
    machine.elapsed.fetch_add(400, Ordering::SeqCst);
    assert_eq!(clock.now(), NOW + 61_400);
    assert_eq!(machine.steps(), (0, 0));
}

#[tokio::test]
async fn t6_the_latest_time_outlives_the_process() {
    let backend = MemoryBackend::new(Arc::new(SystemClock));
    let machine = Machine::at(NOW);
    let before = machine.clock();
    machine.pass(5_000);
    before.keep(&backend).await.unwrap();

    let set_back = Machine::at(NOW - YEAR);
    let after = set_back.clock();
    after.keep(&backend).await.unwrap();
    assert_eq!(after.now(), NOW + 5_000);
    assert_eq!(set_back.steps(), (0, 1));
    set_back.pass(1_000);
    after.keep(&backend).await.unwrap();
    assert_eq!(read_mark(&backend).await.unwrap().unwrap().0, NOW + 6_000);

    let later_machine = Machine::at(NOW + YEAR);
    let later = later_machine.clock();
    later.keep(&backend).await.unwrap();
    assert_eq!((later.now(), later_machine.steps()), (NOW + YEAR, (0, 0)));
}

#[tokio::test]
async fn t6_a_clock_that_was_wrong_for_a_moment_is_forgotten_by_a_restart() {
    let backend = MemoryBackend::new(Arc::new(SystemClock));
    let machine = Machine::at(NOW);
    let clock = machine.clock();
    clock.keep(&backend).await.unwrap();
    machine.set(NOW + YEAR);
    for _ in 0..12 {
        machine.pass(milliseconds(KEEPING_INTERVAL));
        clock.keep(&backend).await.unwrap();
    }
    let (kept, _) = read_mark(&backend).await.unwrap().unwrap();
    assert!((NOW..NOW + 130_000).contains(&kept), "{}", kept - NOW);

    machine.pass(milliseconds(STANDING));
    clock.keep(&backend).await.unwrap();
    assert!(
        kept_in(&backend).await < NOW + HOUR,
        "ten minutes prove nothing"
    );
    assert!(clock.is_doubted());
    machine.pass(24 * HOUR);
    clock.keep(&backend).await.unwrap();
    assert!(kept_in(&backend).await > NOW + YEAR, "what stands is kept");
    assert!(!clock.is_doubted());
}

const HOUR: u64 = 3_600_000;

async fn kept_in(backend: &MemoryBackend) -> u64 {
    read_mark(backend).await.unwrap().unwrap().0
}

#[tokio::test]
async fn t6_ten_minutes_forward_need_no_witness() {
    let backend = MemoryBackend::new(Arc::new(SystemClock));
    let machine = Machine::at(NOW);
    let clock = machine.clock();
    clock.keep(&backend).await.unwrap();
    machine.set(NOW + HOUR / 6);
    assert!(!clock.is_doubted());
    machine.pass(milliseconds(STANDING));
    clock.now();
    machine.pass(milliseconds(STANDING));
    clock.keep(&backend).await.unwrap();
    assert!(kept_in(&backend).await >= NOW + HOUR / 6);
}

#[tokio::test]
async fn t6_two_hours_forward_for_ten_minutes_are_forgotten_by_a_restart() {
    let backend = MemoryBackend::new(Arc::new(SystemClock));
    let machine = Machine::at(NOW);
    let clock = machine.clock();
    clock.keep(&backend).await.unwrap();
    machine.set(NOW + 2 * HOUR);
    assert!(clock.is_doubted(), "at once, not with the next keeping");
    assert_eq!(
        clock.certain_milliseconds(),
        NOW,
        "nothing is deleted by it"
    );
    assert_eq!(
        clock.now(),
        NOW + 2 * HOUR,
        "what expired in between has expired"
    );
    for _ in 0..70 {
        machine.pass(milliseconds(KEEPING_INTERVAL));
        clock.keep(&backend).await.unwrap();
    }
    machine.set(NOW + 700_000);
    assert!(
        clock.now() > NOW + 2 * HOUR,
        "nothing is valid again while it runs"
    );
    assert!(clock.is_doubted());

    let after = Machine::at(NOW + 700_000).clock();
    assert!(after.is_doubted(), "the kept time is not known yet");
    after.keep(&backend).await.unwrap();
    assert_eq!(after.now(), NOW + 700_000);
    assert!(!after.is_doubted());
}

#[tokio::test]
async fn t6_a_year_forward_is_kept_on_the_word_of_a_witness_over_a_restart() {
    let backend = MemoryBackend::new(Arc::new(SystemClock));
    Machine::at(NOW).clock().keep(&backend).await.unwrap();
    let clock = Machine::at(NOW + YEAR).clock();
    clock.keep(&backend).await.unwrap();
    assert!(clock.is_doubted());
    assert!(kept_in(&backend).await < NOW + HOUR);
    clock.witness(NOW + YEAR);
    assert!(!clock.is_doubted());
    clock.keep(&backend).await.unwrap();
    assert_eq!(kept_in(&backend).await, NOW + YEAR);
}

#[tokio::test]
async fn t6_a_step_that_a_witness_contradicts_is_not_kept_however_long_it_stands() {
    let backend = MemoryBackend::new(Arc::new(SystemClock));
    let machine = Machine::at(NOW);
    let clock = machine.clock();
    clock.keep(&backend).await.unwrap();
    machine.set(NOW + YEAR);
    clock.keep(&backend).await.unwrap();
    machine.pass(25 * HOUR);
    clock.witness(NOW + 25 * HOUR);
    clock.keep(&backend).await.unwrap();
    assert!(clock.is_doubted());
    assert!(kept_in(&backend).await < NOW + 26 * HOUR);
}

#[tokio::test]
async fn t6_a_mark_that_is_no_time_is_reported_and_kept() {
    let backend = MemoryBackend::new(Arc::new(SystemClock));
    let put = Change::Put(gatehouse_ports::Put {
        key: MARK_KEY.to_owned(),
        value: b"soon".to_vec(),
        expires_at: None,
    });
    let written = backend.commit(Namespace::Host, Vec::new(), vec![put]);
    written.await.unwrap();
    let kept = Machine::at(NOW).clock().keep(&backend).await;
    assert_eq!(kept, Err(StoreError::Corrupt(MARK_KEY.to_owned())));
}
