//! Files that are not what was written.

use gatehouse_ports::OsRandom;
use gatehouse_store::{BackupError, RootKey};
use sha2::{Digest, Sha256};

use super::{begin, content, memory, small_backup, verify};
use crate::subject::root_key;

const MARK_BYTES: usize = 16;
const HEAD_BYTES: usize = 5;
const DIGEST_BYTES: usize = 32;

/// The frames of a file, each with its head.
fn frames(file: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = &file[MARK_BYTES..];
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_be_bytes(rest[1..HEAD_BYTES].try_into().unwrap());
        let (frame, after) = rest.split_at(HEAD_BYTES + length as usize);
        frames.push(frame.to_vec());
        rest = after;
    }
    frames
}

/// A file of other frames than the attested ones, with a digest that fits.
fn forged(file: &[u8], frames: &[Vec<u8>]) -> Vec<u8> {
    let mut forged = file[..MARK_BYTES].to_vec();
    let (seal, others) = frames.split_last().unwrap();
    forged.extend(others.concat());
    let digest = Sha256::digest(&forged);
    let mut seal = seal.clone();
    seal[HEAD_BYTES..HEAD_BYTES + DIGEST_BYTES].copy_from_slice(&digest);
    forged.extend(seal);
    forged
}

#[tokio::test]
async fn s11_a_backup_that_is_cut_anywhere_is_refused_and_nothing_is_written() {
    let file = small_backup().await;
    verify(&file, Some(&root_key())).unwrap();
    for end in 0..file.len() {
        let error = verify(&file[..end], None).unwrap_err();
        match error {
            BackupError::NotABackup => assert!(end < MARK_BYTES, "{end}"),
            BackupError::CutOff { at } => assert_eq!(at, end as u64),
            other => panic!("{end}: {other}"),
        }
    }
    let target = memory();
    let mut end = MARK_BYTES;
    for frame in frames(&file) {
        let refused = begin(&file[..end], &target, &root_key()).await;
        assert!(matches!(refused.err(), Some(BackupError::CutOff { .. })));
        assert!(content(&target).await.is_empty());
        end += frame.len();
    }
    assert_eq!(end, file.len());
}

#[tokio::test]
async fn s11_a_backup_with_any_bit_flipped_is_refused_and_nothing_is_written() {
    let file = small_backup().await;
    let target = memory();
    for bit in 0..file.len() * 8 {
        let mut altered = file.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        assert!(verify(&altered, Some(&root_key())).is_err(), "bit {bit}");
        if bit % 101 == 0 {
            assert!(begin(&altered, &target, &root_key()).await.is_err());
            assert!(content(&target).await.is_empty());
        }
    }
    let longer = [&file[..], b"\n"].concat();
    assert!(matches!(
        verify(&longer, None),
        Err(BackupError::Damaged { .. })
    ));
}

#[tokio::test]
async fn s11_what_was_put_together_anew_is_not_taken_for_a_backup() {
    let file = small_backup().await;
    let original = frames(&file);
    assert_eq!(forged(&file, &original), file);
    // Manifest, keyring, access, orgs, summary, seal.
    assert_eq!(original.len(), 6);

    let mut swapped = original.clone();
    swapped.swap(2, 3);
    let error = verify(&forged(&file, &swapped), None).unwrap_err();
    assert!(error.to_string().contains("out of order"), "{error}");

    let mut twice = original.clone();
    twice.insert(2, original[2].clone());
    let error = verify(&forged(&file, &twice), None).unwrap_err();
    assert!(error.to_string().contains("out of order"), "{error}");

    let mut fewer = original.clone();
    fewer.remove(3);
    let error = verify(&forged(&file, &fewer), None).unwrap_err();
    assert!(error.to_string().contains("not as many records"), "{error}");

    // A record moved from another backup, in its place: well formed, and not what the key attested.
    let another = frames(&small_backup().await);
    let mut mixed = original.clone();
    mixed[2].clone_from(&another[2]);
    let mixed = forged(&file, &mixed);
    verify(&mixed, None).unwrap();
    let refused = verify(&mixed, Some(&root_key()));
    assert!(matches!(refused, Err(BackupError::Forged)));
    let target = memory();
    let refused = begin(&mixed, &target, &root_key()).await;
    assert!(matches!(refused.err(), Some(BackupError::Forged)));
    assert!(content(&target).await.is_empty());
}

#[tokio::test]
async fn s11_another_key_neither_verifies_nor_restores_a_backup() {
    let file = small_backup().await;
    let another = RootKey::generate(&OsRandom).unwrap();
    assert!(matches!(
        verify(&file, Some(&another)),
        Err(BackupError::WrongKey)
    ));
    let target = memory();
    let refused = begin(&file, &target, &another).await;
    assert!(matches!(refused.err(), Some(BackupError::WrongKey)));
    assert!(content(&target).await.is_empty());
}

#[tokio::test]
async fn s12_a_backup_of_a_newer_format_is_refused_and_says_what_to_use() {
    let mut file = small_backup().await;
    file[MARK_BYTES - 1] = 2;
    let error = verify(&file, None).unwrap_err();
    assert!(matches!(error, BackupError::NewerFormat { found: 2 }));
    assert!(error.to_string().contains("a newer one"), "{error}");
    file[MARK_BYTES - 1] = 0;
    assert!(matches!(verify(&file, None), Err(BackupError::NotABackup)));
}

#[tokio::test]
async fn s14_a_frame_that_claims_to_be_long_is_refused_before_there_is_room_for_it() {
    let file = small_backup().await;
    let mut start = MARK_BYTES;
    for frame in frames(&file) {
        let mut altered = file[..start].to_vec();
        altered.push(frame[0]);
        altered.extend(u32::MAX.to_be_bytes());
        let error = verify(&altered, None).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
        start += frame.len();
    }
}
