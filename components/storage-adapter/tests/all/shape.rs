//! Trees whose nodes come and go at their edges.

use gatehouse_ports::{Change, Store as _};

use crate::setting::{Setting, delete, fill, put, value};

#[test]
fn the_first_leaf_is_emptied_and_what_lies_before_its_old_start_is_found() {
    for emptied in [14, 60, 899] {
        let setting = Setting::new();
        let instance = setting.instance();
        let mut expected = fill(&instance);
        let gone: Vec<String> = expected.keys().take(emptied).cloned().collect();
        let deletions: Vec<Change> = gone.iter().map(|key| delete(key)).collect();
        instance.commit(vec![], deletions).unwrap();
        expected.retain(|key, _| !gone.contains(key));

        // All of them go to the branch that begins behind them, in one commit and one by one.
        let before = |number: usize| (format!("before/{number:03}"), "x".repeat(200));
        for numbers in [0..60, 60..61, 61..62, 62..120] {
            let added: Vec<_> = numbers.map(before).collect();
            let changes = added.iter().map(|(key, value)| put(key, value)).collect();
            instance.commit(vec![], changes).unwrap();
            expected.extend(added);
        }
        assert!(setting.contents() == expected, "{emptied} were deleted");
        let fresh = setting.instance();
        for (key, expected) in &expected {
            let found = value(&fresh, key);
            assert_eq!(found.as_ref(), Some(expected), "{key}");
        }
    }
}
