//! Bytes that the store gives back: sealed records, the sealed keyring and shares of the root key.
//!
//! Properties (SEC-K1, V1): nothing panics, and what was not sealed at its address does not open. An input is laid over a record that was
//! sealed properly, byte by byte, so that the fuzzer begins where everything is right.

#![no_main]

use std::sync::OnceLock;

use gatehouse_barrier::{Address, Barrier, Keyring, RootKey};
use gatehouse_ports::doubles::SeededRandom;
use libfuzzer_sys::fuzz_target;

const HERE: Address<'_> = Address {
    store: "access",
    key: "tokens/one",
};
const THERE: Address<'_> = Address {
    store: "access",
    key: "tokens/two",
};

struct World {
    root_key: RootKey,
    keyring: Vec<u8>,
    barrier: Barrier,
    record: Vec<u8>,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let random = SeededRandom::new(1);
        let root_key = RootKey::generate(&random).unwrap();
        let keyring = Keyring::generate(&random).unwrap();
        let barrier = Barrier::new(&keyring);
        let record = barrier.seal(HERE, b"a value", Some(1), &random).unwrap();
        World {
            keyring: keyring.seal(&root_key, &random).unwrap(),
            root_key,
            barrier,
            record,
        }
    })
}

/// `whole` with the bytes of `edits` added to it; further bytes make it longer.
fn edited(whole: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    bytes.resize(whole.len().max(edits.len()), 0);
    for (byte, edit) in bytes.iter_mut().zip(edits) {
        *byte ^= edit;
    }
    bytes
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, input)) = input.split_first() else {
        return;
    };
    let world = world();
    match choice % 4 {
        0 => {
            let sealed = edited(&world.record, input);
            let is_whole = sealed == world.record;
            assert_eq!(world.barrier.open(HERE, sealed.clone()).is_ok(), is_whole);
            assert!(world.barrier.open(THERE, sealed).is_err());
        }
        1 => assert!(world.barrier.open(HERE, input.to_vec()).is_err() || input == world.record),
        2 => {
            let sealed = edited(&world.keyring, input);
            let is_whole = sealed == world.keyring;
            assert_eq!(Keyring::open(&world.root_key, &sealed).is_ok(), is_whole);
        }
        _ => {
            if let Ok(text) = std::str::from_utf8(input) {
                let _ = RootKey::from_text(text);
            }
        }
    }
});
