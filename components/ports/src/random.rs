//! Unpredictable bytes.

use std::cell::RefCell;

#[cfg(target_os = "wasi")]
use wasip2::random::random::get_random_bytes;
use zeroize::Zeroizing;

/// The source of randomness failed; nothing may be made from a fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host's source of randomness failed")]
pub struct RandomError;

/// A cryptographically secure source of random bytes.
pub trait Random {
    /// Fills `bytes` completely.
    ///
    /// # Errors
    ///
    /// When the source fails; what is in `bytes` must then not be used.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The generator of the operating system, or of the WASI host.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsRandom;

impl Random for OsRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        // In a component, getrandom calls the host for every eight bytes.
        #[cfg(target_os = "wasi")]
        if bytes.len() > size_of::<u64>() {
            let drawn = Zeroizing::new(get_random_bytes(bytes.len() as u64));
            if drawn.len() != bytes.len() {
                return Err(RandomError);
            }
            bytes.copy_from_slice(&drawn);
            return Ok(());
        }
        getrandom::fill(bytes).map_err(|_| RandomError)
    }
}

/// A source that asks another one for many bytes at once. In a component a call costs more than the bytes.
pub struct DrawnAhead<'r, R> {
    source: &'r R,
    drawn: RefCell<Zeroizing<Vec<u8>>>,
}

impl<'r, R: Random> DrawnAhead<'r, R> {
    /// A source of `bytes` bytes of `source`. What is asked for beyond them comes from `source` directly.
    ///
    /// # Errors
    ///
    /// When `source` fails.
    pub fn new(source: &'r R, bytes: usize) -> Result<Self, RandomError> {
        let mut drawn = Zeroizing::new(vec![0; bytes]);
        source.fill(&mut drawn)?;
        Ok(Self {
            source,
            drawn: RefCell::new(drawn),
        })
    }
}

impl<R: Random> Random for DrawnAhead<'_, R> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut drawn = self.drawn.borrow_mut();
        if drawn.len() < bytes.len() {
            return self.source.fill(bytes);
        }
        let drawn = drawn.drain(..bytes.len());
        for (byte, drawn) in bytes.iter_mut().zip(drawn) {
            *byte = drawn;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Fills with 1, 2, 3 and so on, and counts its calls.
    #[derive(Default)]
    struct Counting {
        last: Cell<u8>,
        calls: Cell<u32>,
    }

    impl Random for Counting {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
            self.calls.set(self.calls.get() + 1);
            for byte in bytes {
                self.last.set(self.last.get() + 1);
                *byte = self.last.get();
            }
            Ok(())
        }
    }

    struct Failing;

    impl Random for Failing {
        fn fill(&self, _bytes: &mut [u8]) -> Result<(), RandomError> {
            Err(RandomError)
        }
    }

    fn drawn<const N: usize>(random: &impl Random) -> [u8; N] {
        let mut bytes = [0; N];
        random.fill(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn bytes_that_were_drawn_ahead_are_handed_out_once_and_then_the_source_is_asked() {
        let source = Counting::default();
        let ahead = DrawnAhead::new(&source, 8).unwrap();
        assert_eq!(drawn(&ahead), [1, 2, 3]);
        assert_eq!(drawn(&ahead), [4, 5, 6]);
        assert_eq!(source.calls.get(), 1);
        // What is left is too little.
        assert_eq!(drawn(&ahead), [9, 10, 11]);
        assert_eq!(source.calls.get(), 2);
        assert_eq!(drawn(&ahead), [7, 8]);
        assert_eq!(drawn(&ahead), [12]);
    }

    #[test]
    fn nothing_is_drawn_ahead_from_a_source_that_fails() {
        assert_eq!(DrawnAhead::new(&Failing, 8).err(), Some(RandomError));
    }
}
