//! Pages of lists that are at hand as a whole, such as what belongs to one organization.

use crate::MAXIMUM_PAGE_SIZE;

/// The page `number` (from 1 on) of `all`, `size` (1 to [`MAXIMUM_PAGE_SIZE`]) to a page, and how many there are on all pages. What lies
/// outside its range is brought into it.
pub(crate) fn page<T>(all: impl IntoIterator<Item = T>, number: u32, size: u32) -> (Vec<T>, u64) {
    let size = u64::from(size.clamp(1, MAXIMUM_PAGE_SIZE));
    let first = u64::from(number.max(1) - 1) * size;
    let mut total = 0;
    let mut items = Vec::new();
    for item in all {
        if (first..first + size).contains(&total) {
            items.push(item);
        }
        total += 1;
    }
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
