//! The lines of a sink, over restarts and rotation.

use super::*;

#[tokio::test]
async fn l2_a_record_shows_what_is_named_and_hashes_the_rest() {
    let place = Place::new();
    let sinks = place.open();
    write(&sinks, 1).await.unwrap();
    let mut answered = entry(r#"{"clear":"c"}"#);
    answered.side = Side::Response;
    sinks.write(answered).await.unwrap();
    sinks.write(entry("{}")).await.unwrap();

    let records = records(&place.log());
    assert_eq!(records[0]["event"], "begins");
    assert_eq!(records[0]["previous"], "0".repeat(64));
    assert_eq!(records[1]["type"], "request");
    assert_eq!(records[1]["sequence"], 1);
    assert_eq!(records[1]["clear"], "c");
    assert_eq!(records[1]["n"], 1);
    assert_eq!(records[1]["secret"], sinks.hash("main", "s").unwrap());
    assert_eq!(records[2]["type"], "response");
    assert_eq!(records.len(), 4);
    let time = records[1]["time"].as_str().unwrap();
    assert_eq!(time.len(), "2026-11-21T18:00:00.123456789Z".len(), "{time}");
    time.parse::<Timestamp>().unwrap();
    assert_eq!(verified(&place.log()).lines, 4);
}

#[tokio::test]
async fn l3_records_of_servers_that_share_a_store_say_which_one_wrote_them() {
    let place = Place::new();
    let sinks = place.open().of_node("one.example-1\",\"hash\":\"");
    write(&sinks, 1).await.unwrap();
    let records = records(&place.log());
    assert_eq!(records[1]["node"], "one.example-1hash");
    assert_eq!(records[1]["n"], 1);
    let own = sinks.write(entry(r#"{"node":"two"}"#)).await;
    assert!(matches!(own, Err(AuditError::Invalid)));
    assert_eq!(verified(&place.log()).lines, 2);
}

#[tokio::test]
async fn what_is_no_object_is_refused_and_not_written() {
    let place = Place::new();
    let sinks = place.open();
    for document in ["[]", "{", r#"{"sequence":1}"#] {
        let refused = sinks.write(entry(document)).await;
        assert!(matches!(refused, Err(AuditError::Invalid)), "{document}");
    }
    assert_eq!(records(&place.log()).len(), 1);
}

#[tokio::test]
async fn l1_many_writers_get_one_order() {
    let place = Place::new();
    let sinks = Arc::new(place.open());
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..32 {
        let sinks = Arc::clone(&sinks);
        writers.spawn(async move {
            for number in 0..10 {
                write(&sinks, writer * 10 + number).await.unwrap();
            }
        });
    }
    while let Some(outcome) = writers.join_next().await {
        outcome.unwrap();
    }
    let verified = verified(&place.log());
    assert_eq!(verified.last.unwrap().0, 320);
    let mut numbers: Vec<u64> = records(&place.log())
        .iter()
        .filter_map(|record| record["n"].as_u64())
        .collect();
    for writer in 0..32 {
        let own: Vec<&u64> = numbers.iter().filter(|n| **n / 10 == writer).collect();
        assert!(own.is_sorted(), "records of one writer keep their order");
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..320).collect::<Vec<_>>());
}

#[tokio::test]
async fn l3_a_restart_goes_on_with_chain_and_key() {
    let place = Place::new();
    let first = place.open();
    write(&first, 1).await.unwrap();
    let hash = first.hash("main", "s");
    close(first, &place).await;

    let second = place.open();
    write(&second, 2).await.unwrap();
    assert_eq!(second.hash("main", "s"), hash);
    let records = records(&place.log());
    assert_eq!(records[1]["secret"], records[3]["secret"]);
    assert_eq!(records[2]["event"], "resumes");
    assert_eq!(verified(&place.log()).last.unwrap().0, 3);
    let mode = fs::metadata(place.path("main.hmac-key"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let mode = fs::metadata(place.log()).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

/// Ends the writers, and waits until they have let go of their file.
async fn close(sinks: Sinks, place: &Place) {
    drop(sinks);
    let file = fs::File::open(place.log()).unwrap();
    while file.try_lock().is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn l3_a_line_that_was_cut_off_stays_and_the_chain_goes_on() {
    for (cut, remarks) in [(1, 0), (2, 1), (40, 1), (100, 1)] {
        let place = Place::new();
        let sinks = place.open();
        write(&sinks, 1).await.unwrap();
        write(&sinks, 2).await.unwrap();
        close(sinks, &place).await;
        let before = text(&place.log());
        fs::write(place.log(), &before[..before.len() - cut]).unwrap();
        if remarks > 0 {
            let found = verify(&[place.log()], Expectations::default());
            let unfinished = Break::Unfinished;
            assert!(
                matches!(found, Err(VerifyError::Broken { line: 3, why, .. }) if why == unfinished),
                "{found:?}"
            );
        }

        let sinks = place.open();
        write(&sinks, 3).await.unwrap();
        let after = text(&place.log());
        assert!(after.starts_with(&before[..before.len() - cut]));
        assert_eq!(verified(&place.log()).remarks.len(), remarks, "{cut}");

        // The line that was cut off cannot be changed or taken away unseen.
        if remarks > 0 {
            let torn = after.lines().nth(2).unwrap();
            for other in [
                &torn[..torn.len() - 1],
                &torn.replace("request", "respond"),
                "",
            ] {
                let forged = after.replacen(torn, other, 1);
                if forged != after {
                    fs::write(place.log(), forged).unwrap();
                    verify(&[place.log()], Expectations::default()).unwrap_err();
                }
            }
        }
    }
}

#[tokio::test]
async fn l3_a_first_line_that_was_cut_off_does_not_stop_a_start() {
    let place = Place::new();
    close(place.open(), &place).await;
    let whole = text(&place.log());
    for cut in [5, 20, 120] {
        fs::write(place.log(), &whole[..cut]).unwrap();
        let sinks = place.open();
        write(&sinks, 1).await.unwrap();
        close(sinks, &place).await;
        assert_eq!(verified(&place.log()).remarks.len(), 1, "{cut}");
    }
}

#[tokio::test]
async fn l3_rotation_names_the_last_record_of_the_old_file() {
    let place = Place::new();
    let sinks = place.open();
    write(&sinks, 1).await.unwrap();
    // Nothing has been moved: nothing happens but a flush.
    sinks.reopen();
    write(&sinks, 2).await.unwrap();
    fs::rename(place.log(), place.path("audit.log.1")).unwrap();
    write(&sinks, 3).await.unwrap();
    sinks.reopen();
    write(&sinks, 4).await.unwrap();

    let old = verified(&place.path("audit.log.1"));
    assert_eq!(old.last.unwrap().0, 3);
    let new = records(&place.log());
    assert_eq!(new[0]["event"], "begins");
    assert_eq!(new[0]["sequence"], 4);
    assert_eq!(new[0]["previous"], old.last.unwrap().1.to_string());
    assert_eq!(new[1]["n"], 4);
    let both = [place.path("audit.log.1"), place.log()];
    let all = verify(&both, Expectations::default()).unwrap();
    assert_eq!(all.lines, 6);
    assert_eq!(verified(&place.log()).lines, 2, "also by itself");
    let swapped = [place.log(), place.path("audit.log.1")];
    verify(&swapped, Expectations::default()).unwrap_err();
}

#[tokio::test]
async fn l3_an_old_file_in_the_place_of_a_new_one_is_not_taken() {
    let place = Place::new();
    let sinks = place.open();
    write(&sinks, 1).await.unwrap();
    fs::rename(place.log(), place.path("audit.log.1")).unwrap();
    fs::copy(place.path("audit.log.1"), place.log()).unwrap();
    let copy = text(&place.log());
    sinks.reopen();
    write(&sinks, 2).await.unwrap();
    assert_eq!(text(&place.log()), copy);
    assert_eq!(verified(&place.path("audit.log.1")).lines, 3);
}

#[test]
fn contract_6_5_sinks_are_told_without_secrets() {
    let place = Place::new();
    let sinks = place.open();
    let shown = &sinks.sinks()[0];
    assert_eq!((shown.name.as_str(), shown.kind.as_str()), ("main", "file"));
    let path = place.log().display().to_string();
    assert_eq!(shown.options, [("file_path".to_owned(), path)]);
    assert_eq!(sinks.hash("other", "x"), None);
    assert!(sinks.hash("main", "x").unwrap().starts_with("hmac-sha256:"));
    let keyed = Place::new().open();
    assert_ne!(
        keyed.hash("main", "x"),
        sinks.hash("main", "x"),
        "each sink has its own key"
    );
}
