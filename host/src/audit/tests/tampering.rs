//! Whatever an intruder does to a log, verification names the place, or the head that was remembered shows it.

use super::*;

/// A log of some records, written by one server.
async fn log(place: &Place) -> String {
    let sinks = place.open();
    for number in 0..6 {
        write(&sinks, number).await.unwrap();
    }
    text(&place.log())
}

fn check(place: &Place, text: &[u8]) -> Result<Verified, VerifyError> {
    let path = place.path("copy");
    fs::write(&path, text).unwrap();
    verify(&[path], Expectations::default())
}

#[track_caller]
fn broken_at(place: &Place, lines: &[&str]) -> u64 {
    let text = lines.join("\n") + "\n";
    match check(place, text.as_bytes()) {
        Err(VerifyError::Broken { line, .. }) => line,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn l3_every_changed_byte_is_found_at_its_line() {
    let place = Place::new();
    let text = log(&place).await;
    assert_eq!(check(&place, text.as_bytes()).unwrap().lines, 7);
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let own = 1 + text[..at].matches('\n').count() as u64;
        match check(&place, &bytes) {
            Err(VerifyError::Broken { line, .. }) => {
                // A hash that was changed shows at its own line, and at no later one.
                assert_eq!(line, own, "byte {at}");
            }
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn l3_lines_removed_inserted_doubled_or_swapped_are_found() {
    let place = Place::new();
    let text = log(&place).await;
    let lines: Vec<&str> = text.lines().collect();
    for at in 0..lines.len() - 1 {
        let mut removed = lines.clone();
        removed.remove(at);
        assert_eq!(broken_at(&place, &removed), at as u64 + 1);

        let mut doubled = lines.clone();
        doubled.insert(at, lines[at]);
        assert_eq!(broken_at(&place, &doubled), at as u64 + 2);

        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        assert_eq!(broken_at(&place, &swapped), at as u64 + 1);

        let mut inserted = lines.clone();
        inserted.insert(at + 1, "{}");
        assert_eq!(broken_at(&place, &inserted), at as u64 + 2);
    }
    // A whole part moved elsewhere.
    let moved = [&lines[..2], &lines[4..], &lines[2..4]].concat();
    assert_eq!(broken_at(&place, &moved), 3);
}

#[tokio::test]
async fn l3_a_cut_head_is_found_unless_its_hash_is_known() {
    let place = Place::new();
    let text = log(&place).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(broken_at(&place, &lines[3..]), 1);
    let before: Value = serde_json::from_str(lines[2]).unwrap();
    let path = place.path("copy");
    fs::write(&path, lines[3..].join("\n") + "\n").unwrap();
    let from = |hash: &str| Expectations {
        from: Some(hash.parse().unwrap()),
        line: None,
    };
    let hash = before["hash"].as_str().unwrap();
    assert_eq!(
        verify(std::slice::from_ref(&path), from(hash))
            .unwrap()
            .lines,
        4
    );
    assert!(verify(&[path], from(&"1".repeat(64))).is_err());
}

#[tokio::test]
async fn l3_a_cut_tail_shows_only_against_a_remembered_head() {
    let place = Place::new();
    let text = log(&place).await;
    let (sequence, link) = check(&place, text.as_bytes()).unwrap().last.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines[..5].join("\n") + "\n";
    assert_eq!(check(&place, cut.as_bytes()).unwrap().lines, 5);
    let expect = |line| Expectations {
        from: None,
        line: Some(line),
    };
    let path = [place.path("copy")];
    let missing = verify(&path, expect((sequence, link)));
    assert!(
        matches!(missing, Err(VerifyError::Missing(6))),
        "{missing:?}"
    );
    let there = verify(&[place.log()], expect((sequence, link))).unwrap();
    assert_eq!(there.lines, 7);
    let other = verify(&[place.log()], expect((5, link)));
    assert!(matches!(
        other,
        Err(VerifyError::Different { sequence: 5, .. })
    ));
}

#[tokio::test]
async fn l3_a_rotated_file_that_is_missing_is_found() {
    let place = Place::new();
    let sinks = place.open();
    let names = ["log.1", "log.2", "log.3"].map(|name| place.path(name));
    for (number, name) in names.iter().enumerate() {
        write(&sinks, number).await.unwrap();
        fs::rename(place.log(), name).unwrap();
        sinks.reopen();
        write(&sinks, number).await.unwrap();
    }
    verify(&names, Expectations::default()).unwrap();
    let gap = [names[0].clone(), names[2].clone()];
    let found = verify(&gap, Expectations::default());
    assert!(
        matches!(
            found,
            Err(VerifyError::Broken {
                line: 1,
                why: Break::OtherPredecessor(_),
                ..
            })
        ),
        "{found:?}"
    );
}
