//! The power of a signature check: to 65537, modulo a public key.
//!
//! A check squares sixteen times and is the costliest part of a login. crypto-bigint squares as it multiplies, and always in limbs of 64
//! bits, whose products WebAssembly without wide arithmetic puts together from four. Here a square takes half the products, the limbs are
//! as wide as the processor or the host multiplies them, and two rows are added in one pass. All of it is in variable time: signatures and
//! public keys are no secrets.

use std::array;

/// The limbs that are fastest where this is compiled for.
#[cfg(any(feature = "wide-arithmetic", not(target_family = "wasm")))]
pub(super) type NativeLimb = u64;
#[cfg(all(not(feature = "wide-arithmetic"), target_family = "wasm"))]
pub(super) type NativeLimb = u32;

/// A digit of a number.
pub(super) trait Limb: Copy + Ord {
    /// How many bytes it has.
    const BYTES: usize;
    const ZERO: Self;
    const ONE: Self;

    /// The digit in at most [`Limb::BYTES`] big-endian bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// The lower half of `a * b`.
    fn low_product(a: Self, b: Self) -> Self;
    /// `a * b + c + d`: the lower half, and the upper one.
    fn product_and_sum(a: Self, b: Self, c: Self, d: Self) -> (Self, Self);
    /// `a + b + c`: the lower half, and the upper one.
    fn sum(a: Self, b: Self, c: Self) -> (Self, Self);
    /// All bits turned.
    fn complement(self) -> Self;
}

macro_rules! limb {
    ($narrow:ty, $wide:ty) => {
        // A cast cuts off only the upper half, which is returned beside the lower one.
        impl Limb for $narrow {
            const BYTES: usize = size_of::<Self>();
            const ZERO: Self = 0;
            const ONE: Self = 1;

            fn from_bytes(bytes: &[u8]) -> Self {
                let append = |number: Self, byte: &u8| number << 8 | Self::from(*byte);
                bytes.iter().fold(0, append)
            }

            #[inline]
            fn low_product(a: Self, b: Self) -> Self {
                a.wrapping_mul(b)
            }

            #[inline]
            fn product_and_sum(a: Self, b: Self, c: Self, d: Self) -> (Self, Self) {
                let wide =
                    <$wide>::from(a) * <$wide>::from(b) + <$wide>::from(c) + <$wide>::from(d);
                (wide as Self, (wide >> Self::BITS) as Self)
            }

            #[inline]
            fn sum(a: Self, b: Self, c: Self) -> (Self, Self) {
                let wide = <$wide>::from(a) + <$wide>::from(b) + <$wide>::from(c);
                (wide as Self, (wide >> Self::BITS) as Self)
            }

            #[inline]
            fn complement(self) -> Self {
                !self
            }
        }
    };
}

limb!(u32, u64);
limb!(u64, u128);

/// A modulus of up to `N` limbs, an even number of them, the least significant first; with what Montgomery multiplication needs.
#[derive(Debug, Clone)]
pub(super) struct PublicPower<L, const N: usize> {
    modulus: [L; N],
    /// The square of R modulo the modulus. R is one more than the largest number of `N` limbs.
    r_squared: [L; N],
    /// The number that the lowest limb of the modulus is to be multiplied with for all bits to be set.
    negative_inverse: L,
}

impl<L: Limb, const N: usize> PublicPower<L, N> {
    /// For an odd modulus, all numbers big-endian: `r_squared` as above, and the last bytes of `negative_inverse` count. `None` for a
    /// number that is too wide.
    pub(super) fn new(modulus: &[u8], r_squared: &[u8], negative_inverse: &[u8]) -> Option<Self> {
        // Two limbs of the modulus are added at a time.
        const { assert!(N > 0 && N.is_multiple_of(2)) };
        let negative_inverse = negative_inverse.rchunks(L::BYTES).next()?;
        Some(Self {
            modulus: limbs(modulus)?,
            r_squared: limbs(r_squared)?,
            negative_inverse: L::from_bytes(negative_inverse),
        })
    }

    /// True if `base` to the power 65537 is `expected`. Both are big-endian; a base that is not below the modulus is refused.
    pub(super) fn is(&self, base: &[u8], expected: &[u8]) -> bool {
        let (Some(base), Some(expected)) = (limbs(base), limbs(expected)) else {
            return false;
        };
        self.is_above(&base) && self.power(&base) == expected
    }

    fn power(&self, base: &[L; N]) -> [L; N] {
        let mut power = self.reduced(product(base, &self.r_squared));
        for _ in 0..16 {
            power = self.reduced(square(&power));
        }
        // The base has no factor R, so this takes out the one that is in the power.
        let mut power = self.reduced(product(&power, base));
        // A power below R and a base below the modulus, so it is less than twice the modulus.
        if !self.is_above(&power) {
            self.subtract_from(&mut power);
        }
        power
    }

    fn is_above(&self, number: &[L; N]) -> bool {
        number.iter().rev().lt(self.modulus.iter().rev())
    }

    /// A number below R that times R is `product` modulo the modulus (Montgomery's reduction).
    fn reduced(&self, mut product: [[L; N]; 2]) -> [L; N] {
        let mut top = L::ZERO;
        let ([m0, m1, ..], [.., m_last]) = (self.modulus.as_slice(), self.modulus.as_slice())
        else {
            return self.modulus;
        };
        for start in (0..N).step_by(2) {
            let columns = product.as_flattened_mut().get_mut(start..start + N + 2);
            let Some([first, second, middle @ .., third, last]) = columns else {
                break;
            };
            // The multiples of the modulus, one column apart, that make the first two columns zero.
            let one = L::low_product(*first, self.negative_inverse);
            let (_, carry) = L::product_and_sum(one, *m0, *first, L::ZERO);
            let (rest, mut carry_of_one) = L::product_and_sum(one, *m1, *second, carry);
            let other = L::low_product(rest, self.negative_inverse);
            let (_, mut carry_of_other) = L::product_and_sum(other, *m0, rest, L::ZERO);
            let (_, above) = self.modulus.split_at(1);
            for (column, pair) in middle.iter_mut().zip(above.windows(2)) {
                let [before, present] = pair else { continue };
                let (sum, carry) = L::product_and_sum(one, *present, *column, carry_of_one);
                carry_of_one = carry;
                (*column, carry_of_other) = L::product_and_sum(other, *before, sum, carry_of_other);
            }
            let (sum, carry_of_one) = L::sum(*third, carry_of_one, top);
            (*third, carry_of_other) = L::product_and_sum(other, *m_last, sum, carry_of_other);
            (*last, top) = L::sum(*last, carry_of_one, carry_of_other);
        }
        let [_, mut upper] = product;
        if top != L::ZERO {
            self.subtract_from(&mut upper);
        }
        upper
    }

    fn subtract_from(&self, number: &mut [L; N]) {
        let mut carry = L::ONE;
        for (limb, modulus) in number.iter_mut().zip(&self.modulus) {
            (*limb, carry) = L::sum(*limb, modulus.complement(), carry);
        }
    }
}

/// The lower half of the square, and the upper one.
fn square<L: Limb, const N: usize>(number: &[L; N]) -> [[L; N]; 2] {
    let mut square = [[L::ZERO; N]; 2];
    // The products of different limbs, each once.
    for start in (0..N).step_by(2) {
        let columns = square.as_flattened_mut().get_mut(2 * start..start + N + 2);
        let (Some([_, first, columns @ ..]), Some([one, other, rest @ ..])) =
            (columns, number.get(start..))
        else {
            break;
        };
        let (mut carry_of_one, mut carry_of_other) = (L::ZERO, L::ZERO);
        (*first, carry_of_one) = L::product_and_sum(*one, *other, *first, carry_of_one);
        let mut before = L::ZERO;
        let mut columns = columns.iter_mut();
        for (limb, column) in rest.iter().zip(&mut columns) {
            let (sum, carry) = L::product_and_sum(*one, *limb, *column, carry_of_one);
            carry_of_one = carry;
            (*column, carry_of_other) = L::product_and_sum(*other, before, sum, carry_of_other);
            before = *limb;
        }
        if let [third, last] = columns.into_slice() {
            (*third, *last) = L::product_and_sum(*other, before, carry_of_one, carry_of_other);
        }
    }
    // Twice those, and the squares of the limbs.
    let (mut bit, mut carry) = (L::ZERO, L::ZERO);
    let (columns, _) = square.as_flattened_mut().as_chunks_mut();
    for ([low, high], limb) in columns.iter_mut().zip(number) {
        let (low_of_limb, high_of_limb) = L::product_and_sum(*limb, *limb, L::ZERO, L::ZERO);
        let (twice, bit_of_low) = L::sum(*low, *low, bit);
        (*low, carry) = L::sum(twice, low_of_limb, carry);
        let (twice, bit_of_high) = L::sum(*high, *high, bit_of_low);
        (*high, carry) = L::sum(twice, high_of_limb, carry);
        bit = bit_of_high;
    }
    square
}

/// The lower half of the product, and the upper one.
fn product<L: Limb, const N: usize>(left: &[L; N], right: &[L; N]) -> [[L; N]; 2] {
    let mut product = [[L::ZERO; N]; 2];
    for (start, left) in left.iter().enumerate() {
        let columns = product.as_flattened_mut().get_mut(start..);
        let mut columns = columns.unwrap_or_default().iter_mut();
        let mut carry = L::ZERO;
        for (right, column) in right.iter().zip(&mut columns) {
            (*column, carry) = L::product_and_sum(*left, *right, *column, carry);
        }
        if let Some(column) = columns.next() {
            *column = carry;
        }
    }
    product
}

/// The number in `bytes`, big-endian; `None` when it is wider than `N` limbs.
fn limbs<L: Limb, const N: usize>(bytes: &[u8]) -> Option<[L; N]> {
    let mut chunks = bytes.rchunks(L::BYTES);
    let limbs = array::from_fn(|_| chunks.next().map_or(L::ZERO, L::from_bytes));
    chunks.flatten().all(|byte| *byte == 0).then_some(limbs)
}

#[cfg(test)]
mod tests {
    use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
    use crypto_bigint::{Odd, U2048, U3072, U4096, Uint};
    use sha2::{Digest, Sha256};

    use super::*;

    /// Bytes that are the same in every run.
    fn bytes_of(label: &str, length: usize) -> Vec<u8> {
        let blocks = (0_u32..).flat_map(|block| Sha256::digest(format!("{label} {block}")));
        blocks.take(length).collect()
    }

    /// Odd numbers that fill the width, nearly fill it, or leave most of the highest limbs empty; with long runs of equal bits, and without.
    fn moduli(width: usize) -> Vec<Vec<u8>> {
        let mut sparse = vec![0; width];
        (sparse[0], sparse[width - 1]) = (0x80, 1);
        let mut runs = vec![0xff; width];
        runs[width / 3..width / 2].fill(0);
        let mut narrow = vec![0; width];
        narrow[width / 4] = 1;
        narrow[width - 1] = 1;
        let mut moduli = vec![vec![0xff; width], sparse, runs, narrow];
        for number in 0..20 {
            let mut modulus = bytes_of(&format!("modulus {number}"), width);
            modulus[0] = modulus[0].max(1) >> (number % 8);
            modulus[width - 1] |= 1;
            moduli.push(modulus);
        }
        moduli
    }

    /// Compares the powers modulo numbers of this width, by limbs of both kinds, with those of crypto-bigint.
    fn compare<const LIMBS: usize, const NARROW: usize>() {
        let width = Uint::<LIMBS>::BYTES;
        for modulus in moduli(width) {
            let number = Uint::<LIMBS>::from_be_slice(&modulus);
            let parameters = FixedMontyParams::new_vartime(Odd::new(number).unwrap());
            let r_squared = parameters.r2().to_be_bytes();
            let inverse = parameters.mod_neg_inv().to_be_bytes();
            let narrow =
                PublicPower::<u32, NARROW>::new(&modulus, r_squared.as_ref(), &inverse).unwrap();
            let wide =
                PublicPower::<u64, LIMBS>::new(&modulus, r_squared.as_ref(), &inverse).unwrap();
            let below = number.wrapping_sub(&Uint::ONE);
            let mut bases = vec![Uint::ZERO, Uint::ONE, below, below.shr_vartime(1)];
            for label in ["base", "another base"] {
                let random = Uint::<LIMBS>::from_be_slice(&bytes_of(label, width));
                bases.push(random.rem_vartime(parameters.modulus().as_nz_ref()));
            }
            for base in bases {
                let form = FixedMontyForm::new(&base, &parameters);
                let expected = form.square_repeat_vartime(16).mul(&form).retrieve();
                let (base, bytes) = (base.to_be_bytes(), expected.to_be_bytes());
                assert!(narrow.is(base.as_ref(), bytes.as_ref()), "{modulus:x?}");
                assert!(wide.is(base.as_ref(), bytes.as_ref()), "{modulus:x?}");
                let other = expected.wrapping_add(&Uint::ONE).to_be_bytes();
                assert!(!narrow.is(base.as_ref(), other.as_ref()));
                assert!(!wide.is(base.as_ref(), other.as_ref()));
            }
            for base in [number, Uint::MAX] {
                let base = base.to_be_bytes();
                let zero = vec![0; width];
                assert!(!narrow.is(base.as_ref(), &zero), "not below the modulus");
                assert!(!wide.is(base.as_ref(), &zero), "not below the modulus");
            }
        }
    }

    #[test]
    fn powers_are_those_of_an_independent_implementation() {
        compare::<{ U2048::LIMBS }, { U2048::LIMBS * 2 }>();
        compare::<{ U3072::LIMBS }, { U3072::LIMBS * 2 }>();
        compare::<{ U4096::LIMBS }, { U4096::LIMBS * 2 }>();
    }

    #[test]
    fn numbers_have_as_many_limbs_as_there_is_room_for() {
        assert_eq!(limbs::<u32, 2>(&[1, 2, 3, 4, 5]), Some([0x0203_0405, 1]));
        assert_eq!(limbs::<u64, 2>(&[]), Some([0, 0]));
        assert_eq!(
            limbs::<u32, 2>(&[0, 1, 2, 3, 4, 5, 6, 7, 8]),
            Some([0x0506_0708, 0x0102_0304])
        );
        assert_eq!(limbs::<u32, 2>(&[9, 1, 2, 3, 4, 5, 6, 7, 8]), None);
    }
}
