//! The key that a backup was made with.

use std::path::Path;

use anyhow::{Context, Result, bail};
use gatehouse_store::{KeyShare, RootKey, SealKind, read_key_file};
use zeroize::Zeroizing;

/// Where the key of a backup comes from.
pub struct KeySource<'a, S> {
    /// The file that holds it, where it is in one.
    pub key_file: Option<&'a Path>,
    /// Asked for share after share where it is in those: with how many were given, and how many it takes.
    pub share: S,
}

/// The key of a store that is sealed as `seal` says: from its file, or put together from shares. It has not been tried.
///
/// # Errors
///
/// When the file is not named or holds no key, or there are too few shares.
pub fn root_key(
    seal: SealKind,
    source: KeySource<'_, impl FnMut(usize, u8) -> Result<Zeroizing<Vec<u8>>>>,
) -> Result<RootKey> {
    let KeySource {
        key_file,
        mut share,
    } = source;
    if seal == SealKind::KeyFile {
        let file = key_file.context(
            "the key is in a file: name the one that the store had when the backup was made, by --key-file",
        )?;
        return Ok(read_key_file(file)?);
    }
    let sharing = seal.sharing();
    let sharing = sharing.context("the backup says something impossible about its shares")?;
    let mut shares: Vec<KeyShare> = Vec::new();
    while shares.len() < usize::from(sharing.threshold()) {
        let given = KeyShare::from_bytes(share(shares.len(), sharing.threshold())?, sharing);
        let Some(given) = given else {
            bail!("a share of this store has another length");
        };
        if shares.iter().any(|share| share.is_same_as(&given)) {
            bail!("this share was given before");
        }
        shares.push(given);
    }
    RootKey::combine(&shares).context("the shares do not yield a key")
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::OsRandom;
    use gatehouse_store::{Sharing, create_key_file};

    use super::*;

    const SHARES: SealKind = SealKind::Shares {
        shares: 3,
        threshold: 2,
    };

    fn no_share(_: usize, _: u8) -> Result<Zeroizing<Vec<u8>>> {
        bail!("no share is asked for")
    }

    fn from_shares(shares: &[Zeroizing<Vec<u8>>]) -> Result<RootKey> {
        let share = |given: usize, _| shares.get(given).cloned().context("no more shares");
        let key_file = None;
        root_key(SHARES, KeySource { key_file, share })
    }

    #[test]
    fn k2_the_key_is_put_together_from_enough_shares() {
        let key = RootKey::generate(&OsRandom).unwrap();
        let shares = key.split(Sharing::new(3, 2).unwrap(), &OsRandom).unwrap();
        let bytes = |share: &KeyShare| Zeroizing::new(share.as_bytes().to_vec());
        let shares: Vec<_> = shares.iter().map(bytes).collect();
        assert!(from_shares(&shares[1..]).unwrap().is_same_as(&key));
        for wrong in [
            vec![shares[0].clone()],
            vec![shares[0].clone(), shares[0].clone()],
            vec![shares[0].clone(), Zeroizing::new(vec![1; 5])],
        ] {
            assert!(from_shares(&wrong).is_err());
        }
    }

    #[test]
    fn k2_the_key_in_a_file_is_read_from_the_one_that_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let key = create_key_file(&file).unwrap();
        let source = |key_file| KeySource {
            key_file,
            share: no_share,
        };
        let read = root_key(SealKind::KeyFile, source(Some(file.as_path())));
        assert!(read.unwrap().is_same_as(&key));
        let missing = root_key(SealKind::KeyFile, source(None)).err().unwrap();
        assert!(missing.to_string().contains("--key-file"), "{missing}");
    }
}
