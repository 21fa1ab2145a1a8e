//! Contents of a bucket, each read by one pure function: for tests that feed generated input (SEC-V1). The adapter uses what these
//! call, not these.

use zeroize::Zeroizing;

use crate::node::Node;
use crate::note::Note;
use crate::root::Root;

/// The node in `bytes`, written again; `None` where they hold none.
#[must_use]
pub fn node(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    Node::decode(bytes).ok()?.encode().ok()
}

/// The root in `bytes`, written again; `None` where they hold none.
#[must_use]
pub fn root(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    Root::decode(bytes).ok()?.encode().ok()
}

/// The note in `bytes`, written again; `None` where they hold none.
#[must_use]
pub fn note(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    Note::decode(bytes).ok()?.encode().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_each_reader_takes_what_it_has_written_and_refuses_what_is_cut() {
        let empty = Root::empty();
        let (whole, read) = (empty.encode().ok().unwrap(), root as fn(&[u8]) -> _);
        let leaf = empty.top.encode().ok().unwrap();
        for (whole, read) in [(whole, read), (leaf, node)] {
            assert_eq!(read(&whole), Some(whole.clone()));
            assert_eq!(read(&whole[..whole.len() - 1]), None);
        }
        assert_eq!(note(b""), None);
    }
}
