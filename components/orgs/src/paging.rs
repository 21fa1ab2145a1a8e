//! Pages of lists that are read by number.

use std::ops::Range;

use crate::MAXIMUM_PAGE_SIZE;

/// The part of a list that is a page of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageRange {
    /// How many come before it.
    pub skip: u64,
    pub size: u32,
}

impl PageRange {
    /// The page `number` (from 1 on), `size` (1 to [`MAXIMUM_PAGE_SIZE`]) to a page. A number or size outside its range is brought into
    /// it.
    pub fn new(number: u32, size: u32) -> Self {
        let size = size.clamp(1, MAXIMUM_PAGE_SIZE);
        Self {
            skip: u64::from(number.max(1) - 1) * u64::from(size),
            size,
        }
    }

    /// How many items come before each one on the page.
    pub const fn ranks(self) -> Range<u64> {
        self.skip..self.skip + self.size as u64
    }

    /// The items of `all` that are on the page.
    pub fn within<T>(self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
        all.into_iter().skip(skip).take(self.size as usize)
    }
}

/// The [page](PageRange::new) of `all`, a list that is at hand as a whole, and how many there are on all pages.
pub(crate) fn page<T>(all: impl IntoIterator<Item = T>, number: u32, size: u32) -> (Vec<T>, u64) {
    let mut total = 0;
    let mut all = all.into_iter().fuse().inspect(|_| total += 1);
    let items = PageRange::new(number, size).within(&mut all).collect();
    all.for_each(drop);
    (items, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_3_1_numbers_and_sizes_are_brought_into_their_range() {
        assert_eq!(page(0..5, 2, 2), (vec![2, 3], 5));
        assert_eq!(page(0..5, 3, 2), (vec![4], 5));
        assert_eq!(page(0..5, 4, 2), (vec![], 5));
        assert_eq!(page(0..5, 0, 2), (vec![0, 1], 5));
        assert_eq!(page(0..5, 1, 0), (vec![0], 5));
        assert_eq!(page(0..150, 2, u32::MAX), ((100..150).collect(), 150));
        assert_eq!(page(0..5, u32::MAX, u32::MAX), (vec![], 5));
    }
}
