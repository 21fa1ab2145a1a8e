//! Instances that take turns in a time of their own: their order is the same in every run, no matter how slow the machine is.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use gatehouse_ports::Clock;
use gatehouse_ports::doubles::SeededRandom;
use gatehouse_storage_adapter::Adapter;
use gatehouse_wasi_key_value::{AdapterHost, Call, KeyValue, Operation, Verdict};

use crate::setting::{LABEL, SEAL_KEY};

/// How long the calls of a host take, in microseconds. Reads run concurrently, writes one after the other.
const READ: u64 = 500;
const WRITE: u64 = 1000;

/// When the instances begin, in milliseconds since 1970.
const BEGIN: u64 = 1_000_000;

pub type Actor = Adapter<AdapterHost, Watch, SeededRandom>;

/// Lets as many instances on `stores` act beside each other; each gets its number.
pub fn play(
    stores: &KeyValue,
    actors: usize,
    act: impl Fn(usize, &Actor) + Clone + Send + Sync + 'static,
) {
    let stage = Arc::new(Stage {
        state: Mutex::new(State {
            now: 0,
            store_is_free: 0,
            waiting: BTreeSet::new(),
            acting: actors,
            on_stage: None,
        }),
        cues: (0..actors).map(|_| Condvar::new()).collect(),
    });
    let threads = (0..actors).map(|number| {
        let (stage, act) = (stage.clone(), act.clone());
        let client = stores.another_client();
        thread::spawn(move || {
            let watch = Watch { stage, number };
            let exit = Exit(watch.clone());
            watch.wait_until(0);
            let calling = watch.clone();
            client.intercept(move |call| {
                calling.pass(call);
                Verdict::Proceed
            });
            let host = AdapterHost::new(client, SEAL_KEY);
            let random = SeededRandom::new(number as u64);
            act(number, &Adapter::new(host, LABEL, watch, random));
            drop(exit);
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
}

struct Stage {
    state: Mutex<State>,
    cues: Vec<Condvar>,
}

struct State {
    now: u64,
    store_is_free: u64,
    waiting: BTreeSet<(u64, usize)>,
    acting: usize,
    on_stage: Option<usize>,
}

impl Stage {
    /// The next one acts, once all of them wait for their time.
    fn call_next(&self, state: &mut State) {
        state.on_stage = None;
        if state.waiting.len() < state.acting {
            return;
        }
        if let Some((time, next)) = state.waiting.pop_first() {
            state.now = time;
            state.on_stage = Some(next);
            self.cues[next].notify_one();
        }
    }
}

/// The time of day by an instance.
#[derive(Clone)]
pub struct Watch {
    stage: Arc<Stage>,
    number: usize,
}

impl Watch {
    fn now(&self) -> u64 {
        self.stage.state.lock().unwrap().now
    }

    fn wait_until(&self, time: u64) {
        let mut state = self.stage.state.lock().unwrap();
        state.waiting.insert((time, self.number));
        self.stage.call_next(&mut state);
        while state.on_stage != Some(self.number) {
            state = self.stage.cues[self.number].wait(state).unwrap();
        }
    }

    /// Waits until `call` is done.
    fn pass(&self, call: &Call<'_>) {
        let is_read = matches!(call.operation, Operation::Get | Operation::Current);
        let done = {
            let mut state = self.stage.state.lock().unwrap();
            if is_read {
                state.now + READ
            } else {
                state.store_is_free = state.store_is_free.max(state.now) + WRITE;
                state.store_is_free
            }
        };
        self.wait_until(done);
    }
}

impl Clock for Watch {
    fn now_milliseconds(&self) -> u64 {
        BEGIN + self.now() / 1000
    }

    fn sleep(&self, duration: Duration) {
        let microseconds = u64::try_from(duration.as_micros()).unwrap();
        self.wait_until(self.now() + microseconds);
    }
}

/// Leaves the stage to the others, also when the test has failed.
struct Exit(Watch);

impl Drop for Exit {
    fn drop(&mut self) {
        let stage = &self.0.stage;
        let mut state = stage.state.lock().unwrap();
        state.acting -= 1;
        stage.call_next(&mut state);
    }
}
