//! Powers modulo an RSA modulus.

use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{Odd, U2048, U3072, U4096, Uint};
use zeroize::Zeroize;

use super::InvalidKeyError;
use super::public_power::{Limb, NativeLimb, PublicPower};

const MINIMUM_BITS: u32 = 2048;
const LARGEST_WIDTH: usize = U4096::BYTES;

/// Limbs of a number of so many bytes.
const fn native_limbs(bytes: usize) -> usize {
    bytes / <NativeLimb as Limb>::BYTES
}

/// An odd number of 2048 to 4096 bits with what powers need, in the narrowest width that holds it.
#[derive(Debug, Clone)]
pub(super) struct Modulus {
    arithmetic: Arithmetic,
    bytes: usize,
}

#[derive(Debug, Clone)]
enum Arithmetic {
    Width2048(Box<Powers<{ U2048::LIMBS }, { native_limbs(U2048::BYTES) }>>),
    Width3072(Box<Powers<{ U3072::LIMBS }, { native_limbs(U3072::BYTES) }>>),
    Width4096(Box<Powers<{ U4096::LIMBS }, { native_limbs(U4096::BYTES) }>>),
}

/// Both powers modulo one number: of secrets in constant time by crypto-bigint, and the public one.
#[derive(Debug, Clone)]
struct Powers<const LIMBS: usize, const NATIVE_LIMBS: usize> {
    secret: FixedMontyParams<LIMBS>,
    public: PublicPower<NativeLimb, NATIVE_LIMBS>,
}

/// Runs one expression for whichever width the modulus has.
macro_rules! at_width {
    ($modulus:expr, $powers:ident => $body:expr) => {
        match &$modulus.arithmetic {
            Arithmetic::Width2048($powers) => $body,
            Arithmetic::Width3072($powers) => $body,
            Arithmetic::Width4096($powers) => $body,
        }
    };
}

impl Modulus {
    /// The modulus in `bytes`, big-endian.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidKeyError> {
        let bytes = without_leading_zeros(bytes);
        let first = bytes.first().ok_or(InvalidKeyError::Modulus)?;
        let bits = u32::try_from(bytes.len())
            .ok()
            .and_then(|length| length.checked_mul(8))
            .ok_or(InvalidKeyError::Modulus)?
            .saturating_sub(first.leading_zeros());
        if !(MINIMUM_BITS..=U4096::BITS).contains(&bits) {
            return Err(InvalidKeyError::Modulus);
        }
        let arithmetic = if bits <= U2048::BITS {
            Arithmetic::Width2048(Box::new(Powers::of_modulus(bytes)?))
        } else if bits <= U3072::BITS {
            Arithmetic::Width3072(Box::new(Powers::of_modulus(bytes)?))
        } else {
            Arithmetic::Width4096(Box::new(Powers::of_modulus(bytes)?))
        };
        Ok(Self {
            arithmetic,
            bytes: bytes.len(),
        })
    }

    /// Length in bytes, which is also that of every signature.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Big-endian, without leading zeros.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let bytes =
            at_width!(self, powers => powers.secret.modulus().as_ref().to_be_bytes().to_vec());
        without_leading_zeros(&bytes).to_vec()
    }

    /// True if `base` to the power 65537 is `expected`. Both are big-endian; a base that is not below the modulus is refused.
    pub(super) fn public_power_is(&self, base: &[u8], expected: &[u8]) -> bool {
        at_width!(self, powers => powers.public.is(base, expected))
    }

    /// `base` to the power `exponent`, big-endian and as long as the modulus, in time that depends on neither value.
    pub(super) fn secret_power(
        &self,
        base: &[u8],
        exponent: &[u8],
    ) -> Result<Vec<u8>, InvalidKeyError> {
        at_width!(self, powers => secret_power(&powers.secret, base, exponent, self.bytes))
    }
}

pub(super) fn without_leading_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).unwrap_or_default()
}

impl<const LIMBS: usize, const NATIVE_LIMBS: usize> Powers<LIMBS, NATIVE_LIMBS> {
    fn of_modulus(bytes: &[u8]) -> Result<Self, InvalidKeyError> {
        let modulus: Uint<LIMBS> = integer(bytes).ok_or(InvalidKeyError::Modulus)?;
        let odd = Option::from(Odd::new(modulus)).ok_or(InvalidKeyError::Modulus)?;
        let secret = FixedMontyParams::new_vartime(odd);
        // Both have the same R: the widths are those of whole limbs of either kind.
        let public = PublicPower::new(
            bytes,
            secret.r2().to_be_bytes().as_ref(),
            &secret.mod_neg_inv().to_be_bytes(),
        );
        Ok(Self {
            public: public.ok_or(InvalidKeyError::Modulus)?,
            secret,
        })
    }
}

fn secret_power<const LIMBS: usize>(
    parameters: &FixedMontyParams<LIMBS>,
    base: &[u8],
    exponent: &[u8],
    length: usize,
) -> Result<Vec<u8>, InvalidKeyError> {
    let base: Uint<LIMBS> = integer(base).ok_or(InvalidKeyError::Mismatch)?;
    let mut exponent: Uint<LIMBS> = integer(exponent).ok_or(InvalidKeyError::Mismatch)?;
    let power = FixedMontyForm::new(&base, parameters)
        .pow(&exponent)
        .retrieve();
    exponent.zeroize();
    let bytes = power.to_be_bytes();
    let bytes: &[u8] = bytes.as_ref();
    let start = bytes.len().saturating_sub(length);
    Ok(bytes.get(start..).unwrap_or_default().to_vec())
}

/// The number in `bytes`, big-endian; `None` when it is wider than `LIMBS`.
fn integer<const LIMBS: usize>(bytes: &[u8]) -> Option<Uint<LIMBS>> {
    let width = Uint::<LIMBS>::BYTES;
    let bytes = without_leading_zeros(bytes);
    let mut buffer = [0; LARGEST_WIDTH];
    let padded = buffer.get_mut(..width)?;
    padded
        .get_mut(width.checked_sub(bytes.len())?..)?
        .copy_from_slice(bytes);
    let number = Uint::from_be_slice(padded);
    // The number may be a private exponent.
    buffer.zeroize();
    Some(number)
}
