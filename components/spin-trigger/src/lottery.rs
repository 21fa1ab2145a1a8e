//! When a request brings about what is due without anybody asking: nobody calls a component under Spin by the clock.

use gatehouse_ports::Random;

/// Of how many requests one is followed by background work, on average. There is hardly ever anything due, but to see that takes
/// some reads, which are not to weigh on every request.
pub const ONE_IN: u64 = 64;

/// Whether this request is the one. Without randomness it is: the work is put off rather too seldom than for ever.
#[must_use]
pub fn wins(random: &impl Random) -> bool {
    let mut drawn = [0; 8];
    match random.fill(&mut drawn) {
        Ok(()) => u64::from_le_bytes(drawn).is_multiple_of(ONE_IN),
        Err(_) => true,
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
    fn one_draw_in_64_wins() {
        let winners = (0..10 * ONE_IN).filter(|drawn| wins(&Drawn(Some(*drawn))));
        assert_eq!(winners.count(), 10);
    }

    #[test]
    fn without_randomness_the_work_is_done() {
        assert!(wins(&Drawn(None)));
    }
}
