//! Sinks that cannot write, and files that cannot be sinks.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Asserts that neither a check nor a start accepts the sink, and both say this.
#[track_caller]
fn refused(place: &Place, words: &str) {
    let settings = [place.settings()];
    let problems = problems(&settings);
    assert!(
        problems.iter().any(|(_, problem)| problem.contains(words)),
        "{problems:?}"
    );
    let error = Sinks::open(&settings).err().unwrap().to_string();
    assert!(
        error.starts_with("audit.main: ") && error.contains(words),
        "{error}"
    );
}

#[test]
fn l4_a_log_is_a_private_file_in_a_private_folder() {
    let place = Place::new();
    for (bits, words) in [
        (0o640, "chmod 600"),
        (0o700, "chmod 600"),
        (0o602, "chmod 600"),
    ] {
        fs::write(place.log(), "").unwrap();
        mode(&place.log(), bits);
        refused(&place, words);
    }
    fs::remove_file(place.log()).unwrap();
    mode(place.folder.path(), 0o770);
    refused(&place, "chmod go-w");
    mode(place.folder.path(), 0o700);
    fs::create_dir(place.log()).unwrap();
    refused(&place, "no regular file");
    fs::remove_dir(place.log()).unwrap();
    fs::write(place.path("other"), "").unwrap();
    symlink(place.path("other"), place.log()).unwrap();
    refused(&place, "no regular file");
    let mut missing = place.settings();
    missing.path = Some(place.path("nowhere/audit.log"));
    let (setting, problem) = &problems(&[missing.clone()])[0];
    assert_eq!(setting, "audit.main.path");
    assert!(problem.contains("make it"), "{problem}");
    assert!(Sinks::open(&[missing]).is_err());
}

#[test]
fn a_check_makes_nothing() {
    let place = Place::new();
    assert_eq!(problems(&[place.settings()]), []);
    assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 0);
}

#[test]
fn a_log_has_one_writer_and_holds_records() {
    let place = Place::new();
    let first = place.open();
    let error = Sinks::open(&[place.settings()]).err().unwrap();
    assert!(error.to_string().contains("another process"), "{error}");
    drop(first);

    let place = Place::new();
    fs::write(place.log(), "something\nelse\n").unwrap();
    mode(&place.log(), 0o600);
    let error = Sinks::open(&[place.settings()]).err().unwrap();
    assert!(
        error.to_string().contains("holds no audit records"),
        "{error}"
    );
    assert_eq!(text(&place.log()), "something\nelse\n");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let place = Place::new();
    drop(place.open());
    mode(&place.path("main.hmac-key"), 0o644);
    let (setting, problem) = &problems(&[place.settings()])[0];
    assert_eq!(setting, "audit.main.key_file");
    assert!(problem.contains("chmod 600"), "{problem}");
    assert!(Sinks::open(&[place.settings()]).is_err());
}

#[test]
fn l1_a_full_disk_stops_the_start() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let error = sink_of(&Place::new(), full, Duration::from_secs(5));
    assert!(error.err().unwrap().to_string().contains("No space left"));
}

#[tokio::test]
async fn l1_a_log_that_is_gone_fails_until_it_can_be_made_again() {
    let place = Place::new();
    let folder = place.path("logs");
    fs::create_dir(&folder).unwrap();
    mode(&folder, 0o700);
    let settings = AuditSinkSettings {
        path: Some(folder.join("audit.log")),
        ..place.settings()
    };
    let sinks = Sinks::open(&[settings]).unwrap();
    write(&sinks, 1).await.unwrap();
    let kept = place.path("kept");
    fs::copy(folder.join("audit.log"), &kept).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    for number in 2..4 {
        assert!(matches!(
            write(&sinks, number).await,
            Err(AuditError::NoSink)
        ));
    }
    fs::create_dir(&folder).unwrap();
    mode(&folder, 0o700);
    write(&sinks, 4).await.unwrap();
    let all = verify(&[kept, folder.join("audit.log")], Expectations::default()).unwrap();
    assert_eq!(all.last.unwrap().0, 3);
}

#[tokio::test]
async fn l1_one_sink_that_writes_is_enough() {
    let place = Place::new();
    let (reader, stream) = pipe();
    let mut sinks = sink_of(&place, stream, Duration::from_secs(5)).unwrap();
    sinks.sinks.extend(place.open().sinks);
    drop(reader);
    write(&sinks, 1).await.unwrap();
    assert_eq!(records(&place.log())[1]["n"], 1);
}

fn pipe() -> (std::io::PipeReader, fs::File) {
    let (reader, writer) = std::io::pipe().unwrap();
    (reader, fs::File::from(OwnedFd::from(writer)))
}

#[tokio::test]
async fn l1_a_pipe_that_nobody_holds_has_failed() {
    let (reader, stream) = pipe();
    let sinks = sink_of(&Place::new(), stream, Duration::from_secs(5)).unwrap();
    write(&sinks, 1).await.unwrap();
    drop(reader);
    assert!(matches!(write(&sinks, 2).await, Err(AuditError::NoSink)));
}

#[tokio::test]
async fn l1_a_pipe_that_nobody_reads_blocks_for_a_bounded_time() {
    let (mut reader, stream) = pipe();
    let place = Place::new();
    let sinks = sink_of(&place, stream, Duration::from_secs(1)).unwrap();
    let large = format!(r#"{{"clear":"{}"}}"#, "x".repeat(200_000));
    let begin = Instant::now();
    for _ in 0..100 {
        let refused = sinks.write(entry(&large)).await;
        assert!(matches!(refused, Err(AuditError::NoSink)));
    }
    // The first one waits; the others find a sink that is known to be stuck.
    assert!(
        begin.elapsed() < Duration::from_secs(50),
        "{:?}",
        begin.elapsed()
    );

    // The reader reads again: the sink takes records again, and nothing is broken in between.
    let log = place.log();
    let copy = log.clone();
    let copying = std::thread::spawn(move || {
        let mut file = fs::File::create(copy).unwrap();
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        std::io::Write::write_all(&mut file, &all).unwrap();
    });
    while write(&sinks, 1).await.is_err() {
        tokio::task::yield_now().await;
    }
    drop(sinks);
    copying.join().unwrap();
    assert_eq!(verified(&log).lines, 3);
}

#[test]
fn l3_what_a_failed_write_leaves_is_explained() {
    // A pipe takes a part of a large batch, and then nothing more.
    let (mut reader, stream) = pipe();
    rustix::fs::fcntl_setfl(&stream, rustix::fs::OFlags::NONBLOCK).unwrap();
    let mut writer = Writer::of_stream(stream);
    writer.write(&[]).unwrap();
    let large = format!(r#""type":"request","clear":"{}""#, "x".repeat(50_000));
    let mut all = Vec::new();
    let mut chunk = vec![0; 1 << 20];
    for round in 0..3 {
        let error = writer.write(&[large.clone(), large.clone(), large.clone()]);
        assert!(error.is_err(), "{round}");
        let read = reader.read(&mut chunk).unwrap();
        all.extend_from_slice(&chunk[..read]);
    }
    writer
        .write(&[r#""type":"request","n":1"#.to_owned()])
        .unwrap();
    drop(writer);
    reader.read_to_end(&mut all).unwrap();
    let place = Place::new();
    fs::write(place.log(), &all).unwrap();
    let verified = verified(&place.log());
    assert_eq!(verified.remarks.len(), 3, "{verified:?}");
}

#[tokio::test]
async fn l1_a_file_that_may_not_grow_takes_nothing_and_keeps_its_chain() {
    // The limit is that of a process, and its signal ends others: so another one runs the test proper.
    const VARIABLE: &str = "GATEHOUSE_TEST_FILE_LIMIT";
    let Ok(folder) = std::env::var(VARIABLE) else {
        let place = Place::new();
        let own = std::env::current_exe().unwrap();
        let command = format!(
            "ulimit -f 16; trap '' XFSZ; exec {} --exact audit::tests::failures::l1_a_file_that_may_not_grow_takes_nothing_and_keeps_its_chain",
            own.display()
        );
        let outcome = Command::new("sh")
            .args(["-c", &command])
            .env(VARIABLE, place.folder.path())
            .output()
            .unwrap();
        assert!(outcome.status.success(), "{outcome:?}");
        let verified = verified(&place.log());
        assert!(verified.lines > 3, "{verified:?}");
        return;
    };
    let settings = AuditSinkSettings {
        path: Some(Path::new(&folder).join("audit.log")),
        ..Place::new().settings()
    };
    let sinks = Sinks::open(std::slice::from_ref(&settings)).unwrap();
    let large = format!(r#"{{"clear":"{}"}}"#, "x".repeat(1000));
    while sinks.write(entry(&large)).await.is_ok() {}
    assert!(matches!(
        sinks.write(entry(&large)).await,
        Err(AuditError::NoSink)
    ));
    // Nothing of it was left behind.
    let path = settings.path.unwrap();
    verified(&path);
}
