//! Background work by sampling: Spin calls no component by the clock, so some requests are followed by a background duty.

use gatehouse_ports::Random;

/// Each duty follows one in so many requests, on average. A duty rarely finds work, but looking for it takes reads that should not burden
/// every request.
pub const ONE_IN: u64 = 64;

/// Picks the duty that follows this request, if any. Without randomness it is the first, so that work is done too often rather than never.
#[must_use]
pub fn sampled_duty<D: Copy>(random: &impl Random, duties: &[D]) -> Option<D> {
    let mut drawn = [0; 8];
    match random.fill(&mut drawn) {
        Ok(()) => {
            let index = u64::from_le_bytes(drawn) % ONE_IN;
            duties.get(usize::try_from(index).ok()?).copied()
        }
        Err(_) => duties.first().copied(),
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::RandomError;

    use super::*;

    struct Drawn(Option<u64>);

    impl Random for Drawn {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
            let drawn = self.0.ok_or(RandomError)?;
            bytes.copy_from_slice(&drawn.to_le_bytes());
            Ok(())
        }
    }

    #[test]
    fn each_duty_follows_one_request_in_64() {
        for duty in ["a", "b", "c"] {
            let draws = 0..10 * ONE_IN;
            let followed = draws
                .filter(|draw| sampled_duty(&Drawn(Some(*draw)), &["a", "b", "c"]) == Some(duty));
            assert_eq!(followed.count(), 10);
        }
    }

    #[test]
    fn without_randomness_the_first_duty_is_done() {
        assert_eq!(sampled_duty(&Drawn(None), &["a", "b"]), Some("a"));
    }
}
