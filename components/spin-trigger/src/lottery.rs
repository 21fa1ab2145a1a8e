//! When a request brings about what is due without anybody asking: nobody calls a component under Spin by the clock.

use gatehouse_ports::Random;

/// Of how many requests one is followed by a certain duty, on average. There is hardly ever anything due, but to see that takes some
/// reads, which are not to weigh on every request.
pub const ONE_IN: u64 = 64;

/// The duty that this request is followed by, if any. Without randomness it is the first: work is done rather too often than never.
#[must_use]
pub fn drawn<D: Copy>(random: &impl Random, duties: &[D]) -> Option<D> {
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
    fn one_draw_in_64_wins_each_duty() {
        for duty in ["a", "b", "c"] {
            let draws = 0..10 * ONE_IN;
            let winners =
                draws.filter(|draw| drawn(&Drawn(Some(*draw)), &["a", "b", "c"]) == Some(duty));
            assert_eq!(winners.count(), 10);
        }
    }

    #[test]
    fn without_randomness_the_first_duty_is_done() {
        assert_eq!(drawn(&Drawn(None), &["a", "b"]), Some("a"));
    }
}
