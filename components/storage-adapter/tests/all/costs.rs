//! How many calls of the host a call of the store takes.

use gatehouse_ports::{HeldKey, Store as _};
use gatehouse_wasi_key_value::Uses;

use crate::setting::{Setting, at_version, fill, large, put, value};

#[test]
fn a_key_that_a_warm_instance_reads_again_costs_one_look_at_the_head() {
    let setting = Setting::new();
    let entries = fill(&setting.instance());
    let client = setting.stores.another_client();
    let instance = setting.instance_of(client.clone());
    let (key, expected) = entries.iter().nth(500).unwrap();
    assert_eq!(value(&instance, key).as_deref(), Some(expected.as_str()));
    client.take_uses();
    assert_eq!(value(&instance, key).as_deref(), Some(expected.as_str()));
    let head = Uses {
        currents: 1,
        ..Uses::default()
    };
    assert_eq!(client.take_uses(), head);

    // Also when the key is next to it, or is asked after with the version that is held.
    let version = instance.get(&[key]).unwrap().remove(0).unwrap().version;
    client.take_uses();
    let held = HeldKey {
        key: key.clone(),
        version: Some(version),
    };
    instance.get_changed(&[held]).unwrap();
    assert_eq!(client.take_uses(), head);
}

#[test]
fn a_fresh_instance_reads_the_head_the_root_and_the_nodes_on_the_way() {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    let cold = |key: &str| {
        let client = setting.stores.another_client();
        value(&setting.instance_of(client.clone()), key);
        client.take_uses()
    };
    let small = Uses {
        opens: 1,
        currents: 1,
        gets: 1,
        ..Uses::default()
    };
    assert_eq!(cold("a"), small, "a small store is in its root");

    let entries = fill(&setting.instance());
    let deep = Uses { gets: 3, ..small };
    assert_eq!(cold(entries.keys().nth(500).unwrap()), deep, "900 entries");

    setting
        .instance()
        .commit(vec![], vec![put("a", &large(1))])
        .unwrap();
    let parts = Uses { gets: 5, ..small };
    assert_eq!(cold("a"), parts, "a value of 400 kB");
}

#[test]
fn a_commit_takes_two_looks_at_the_head_one_at_a_note_one_write_and_one_swap_and_every_fifth_clears_in_one_call()
 {
    let setting = Setting::new();
    let entries = fill(&setting.instance());
    let client = setting.stores.another_client();
    let instance = setting.instance_of(client.clone());
    let key = entries.keys().nth(500).unwrap();
    let uses = |round: usize| {
        let seen = instance.get(&[key]).unwrap().remove(0).unwrap().version;
        client.take_uses();
        let changes = vec![put(key, &round.to_string())];
        instance
            .commit(vec![at_version(key, seen)], changes)
            .unwrap();
        client.take_uses()
    };
    // The first commits have nothing to clear away yet.
    let uses: Vec<Uses> = (0..20).map(uses).skip(10).collect();
    let commit = Uses {
        currents: 2,
        // The previous content of the note.
        gets: 1,
        set_manys: 1,
        swaps: 1,
        ..Uses::default()
    };
    let clearing = Uses {
        others: 1,
        ..commit
    };
    assert_eq!(uses.iter().filter(|uses| **uses == clearing).count(), 2);
    assert_eq!(uses.iter().filter(|uses| **uses == commit).count(), 8);
}
