//! The habits of the host that the double stands for.

use gatehouse_wasi_key_value::{Bucket, Error, KeyValue, Misuse, SwapError, Verdict};

const LABEL: &str = "access";

fn opened() -> (KeyValue, Bucket) {
    let stores = KeyValue::new(&[LABEL]);
    let bucket = stores.open(LABEL).unwrap();
    (stores, bucket)
}

#[test]
fn a_swap_after_a_read_compares() {
    let (stores, bucket) = opened();
    bucket.set("head", b"1").unwrap();
    let (mut mine, mut theirs) = (bucket.cas("head"), bucket.cas("head"));
    assert_eq!(mine.current().unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(theirs.current().unwrap().as_deref(), Some(&b"1"[..]));
    theirs.swap(b"2").unwrap();
    let Err(SwapError::Failed(again)) = mine.swap(b"3") else {
        panic!("the swap compared nothing");
    };
    assert_eq!(stores.stored(LABEL, "head").unwrap(), b"2");
    again.swap(b"3").unwrap();
    assert_eq!(stores.stored(LABEL, "head").unwrap(), b"3");
    assert!(stores.misuses().is_empty());
}

#[test]
fn a_swap_of_what_was_absent_or_never_read_overwrites() {
    let (stores, bucket) = opened();
    let (mut mine, mut theirs) = (bucket.cas("head"), bucket.cas("head"));
    assert_eq!(mine.current(), Ok(None));
    assert_eq!(theirs.current(), Ok(None));
    theirs.swap(b"2").unwrap();
    mine.swap(b"3").unwrap();
    assert_eq!(stores.stored(LABEL, "head").unwrap(), b"3");
    bucket.cas("head").swap(b"4").unwrap();
    assert_eq!(stores.misuses(), [Misuse::BlindSwap, Misuse::BlindSwap]);
}

#[test]
fn a_counter_has_eight_bytes_and_anything_else_is_a_misuse() {
    let (stores, bucket) = opened();
    assert_eq!(bucket.increment("n", 0), Ok(0));
    assert_eq!(stores.stored(LABEL, "n").unwrap(), [0; 8]);
    assert_eq!(bucket.increment("n", 5), Ok(5));
    assert_eq!(stores.stored(LABEL, "n").unwrap(), 5_i64.to_le_bytes());
    bucket.set("n", b"5").unwrap();
    assert!(bucket.increment("n", 1).is_err());
    assert_eq!(stores.misuses(), [Misuse::IncrementOfNoCounter]);
}

#[test]
fn keys_come_all_at_once_and_a_cursor_is_refused() {
    let (_, bucket) = opened();
    let pairs = [("a".to_owned(), vec![1]), ("b".to_owned(), vec![2])];
    bucket.set_many(&pairs).unwrap();
    assert_eq!(bucket.list_keys(None).unwrap(), ["a", "b"]);
    assert!(bucket.list_keys(Some("a")).is_err());
}

#[test]
fn absent_records_are_left_out_of_many() {
    let (_, bucket) = opened();
    bucket.set("b", b"2").unwrap();
    let asked = ["a", "b"].map(str::to_owned);
    let found = bucket.get_many(&asked).unwrap();
    assert_eq!(found, [("b".to_owned(), Some(b"2".to_vec()))]);
    bucket.delete_many(&asked).unwrap();
    assert_eq!(bucket.exists("b"), Ok(false));
}

#[test]
fn a_label_is_denied_or_has_no_store() {
    let (stores, _) = opened();
    let refusal = |client: KeyValue, label| client.open(label).err();
    assert_eq!(refusal(stores.clone(), "orgs"), Some(Error::AccessDenied));
    let without = stores.client_without_store(LABEL);
    assert_eq!(refusal(without, LABEL), Some(Error::NoSuchStore));
}

#[test]
fn a_client_is_cut_off_within_a_batch_and_another_goes_on() {
    let (stores, bucket) = opened();
    let other = stores.another_client().open(LABEL).unwrap();
    stores.stop_after_writes(1);
    let pairs = [("a".to_owned(), vec![1]), ("b".to_owned(), vec![2])];
    assert!(bucket.set_many(&pairs).is_err());
    assert!(stores.was_stopped());
    assert!(bucket.get("b").is_err());
    assert_eq!(other.list_keys(None).unwrap(), ["b"]);
}

#[test]
fn an_intercepted_write_may_happen_and_be_reported_as_failed() {
    let (stores, bucket) = opened();
    let lost = Error::other("the answer was lost");
    let verdict = Verdict::ProceedAndFail(lost.clone());
    stores.intercept(move |_| verdict.clone());
    assert_eq!(bucket.set("a", b"1"), Err(lost));
    stores.intercept(|_| Verdict::Answer(Some(b"garbage".to_vec())));
    assert_eq!(bucket.get("a").unwrap().as_deref(), Some(&b"garbage"[..]));
    stores.intercept_nothing();
    assert_eq!(bucket.get("a").unwrap().as_deref(), Some(&b"1"[..]));
}

#[test]
fn a_swap_may_happen_and_be_reported_as_refused() {
    let (stores, bucket) = opened();
    bucket.set("head", b"1").unwrap();
    stores.intercept(|_| Verdict::ProceedAndRefuse);
    let mut cas = bucket.cas("head");
    assert_eq!(cas.current().unwrap().as_deref(), Some(&b"1"[..]));
    assert!(matches!(cas.swap(b"2"), Err(SwapError::Failed(_))));
    assert_eq!(bucket.get("head").unwrap().as_deref(), Some(&b"2"[..]));
}

#[test]
fn records_in_a_file_are_there_again_but_for_a_write_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("records");
    let bucket = KeyValue::in_file(&path, &[LABEL])
        .unwrap()
        .open(LABEL)
        .unwrap();
    bucket.set("a", b"1").unwrap();
    bucket.set("b", b"2").unwrap();
    bucket.delete("a").unwrap();
    bucket.set("c", b"3").unwrap();
    let written = std::fs::read(&path).unwrap();
    std::fs::write(&path, &written[..written.len() - 1]).unwrap();
    for _ in 0..2 {
        let bucket = KeyValue::in_file(&path, &[LABEL])
            .unwrap()
            .open(LABEL)
            .unwrap();
        assert_eq!(bucket.list_keys(None).unwrap(), ["b"]);
    }
}
