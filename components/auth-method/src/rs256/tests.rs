//! Signatures that a careless verifier would accept, in the manner of Project Wycheproof, and keys that must not be used.

use std::sync::OnceLock;

use jsonwebtoken::crypto::CryptoProvider;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use rcgen::{KeyPair, PKCS_RSA_SHA256, PublicKeyData as _, RsaKeySize, SigningKey as _};
use sha2::{Digest, Sha256};

use super::{
    CRYPTO_PROVIDER, DIGEST_INFO, InvalidKeyError, SigningKey, VerifyingKey, encoded_block,
};

const MESSAGE: &[u8] = b"123400";
const LENGTH: usize = 256;

fn pair() -> &'static KeyPair {
    static PAIR: OnceLock<KeyPair> = OnceLock::new();
    PAIR.get_or_init(|| KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap())
}

fn key() -> &'static SigningKey {
    static KEY: OnceLock<SigningKey> = OnceLock::new();
    KEY.get_or_init(|| SigningKey::from_pem(&pair().serialize_pem()).unwrap())
}

/// The signature that opens to `block`, whatever is in it.
fn signature_of_block(block: &[u8]) -> Vec<u8> {
    let modulus = key().public.modulus();
    modulus.secret_power(block, &key().exponent).unwrap()
}

fn is_valid(signature: &[u8]) -> bool {
    key().verifying_key().is_signature_of(signature, MESSAGE)
}

/// `00 01 ff.. 00` and `content`, filled up to the length of the modulus.
fn padded(content: &[u8]) -> Vec<u8> {
    let mut block = vec![0x00, 0x01];
    block.resize(LENGTH - content.len() - 1, 0xff);
    block.push(0x00);
    block.extend_from_slice(content);
    block
}

fn digest_info(prefix: &[u8]) -> Vec<u8> {
    [prefix, Sha256::digest(MESSAGE).as_slice()].concat()
}

fn modulus_bytes() -> Vec<u8> {
    // PKCS#1 of a public key: the modulus, then the exponent in the last five bytes.
    let der = pair().der_bytes();
    der[der.len() - 5 - LENGTH..der.len() - 5].to_vec()
}

#[test]
fn signatures_agree_with_an_independent_implementation() {
    let theirs = pair().sign(MESSAGE).unwrap();
    assert!(is_valid(&theirs));
    assert_eq!(key().sign(MESSAGE).unwrap(), theirs);
    assert!(!key().verifying_key().is_signature_of(&theirs, b"123401"));
}

#[test]
fn moduli_of_3072_and_4096_bits_work() {
    for (size, length) in [(RsaKeySize::_3072, 384), (RsaKeySize::_4096, 512)] {
        let pair = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, size).unwrap();
        let key = SigningKey::from_pem(&pair.serialize_pem()).unwrap();
        let theirs = pair.sign(MESSAGE).unwrap();
        assert_eq!(theirs.len(), length);
        assert!(key.verifying_key().is_signature_of(&theirs, MESSAGE));
        assert_eq!(key.sign(MESSAGE).unwrap(), theirs);
    }
}

#[test]
fn j12_the_one_right_block_is_accepted() {
    let block = padded(&digest_info(&DIGEST_INFO));
    assert_eq!(block, encoded_block(MESSAGE, LENGTH));
    assert!(is_valid(&signature_of_block(&block)));
}

#[test]
fn j12_wrong_padding_is_refused() {
    let right = encoded_block(MESSAGE, LENGTH);
    let changed = |place: usize, byte: u8| {
        let mut block = right.clone();
        block[place] = byte;
        block
    };
    let separator = LENGTH - 52;
    assert_eq!(right[separator], 0x00);
    let mut blocks = vec![
        changed(1, 0x00),
        changed(1, 0x02),
        changed(1, 0xff),
        changed(separator, 0x01),
        changed(separator, 0xff),
    ];
    for place in 2..separator {
        blocks.push(changed(place, 0x00));
        blocks.push(changed(place, 0xfe));
    }
    let mut zeros = right.clone();
    zeros[2..separator].fill(0x00);
    blocks.push(zeros);
    // Block type 2, as for encryption.
    let mut random = changed(1, 0x02);
    random[2..separator].fill(0x5a);
    blocks.push(random);
    for block in blocks {
        assert!(!is_valid(&signature_of_block(&block)));
    }
}

#[test]
fn j12_short_padding_with_trailing_garbage_is_refused() {
    let content = digest_info(&DIGEST_INFO);
    for padding in [0, 1, 7, 8, 100] {
        let mut block = vec![0x00, 0x01];
        block.resize(2 + padding, 0xff);
        block.push(0x00);
        block.extend_from_slice(&content);
        block.resize(LENGTH, 0x00);
        assert!(
            !is_valid(&signature_of_block(&block)),
            "{padding} bytes of padding"
        );
        let end = block.len() - 1;
        block[end] = 0xaa;
        assert!(!is_valid(&signature_of_block(&block)));
    }
}

#[test]
fn j12_the_encoding_of_the_digest_must_be_the_one_of_the_standard() {
    let digest = Sha256::digest(MESSAGE);
    let mut without_null = digest_info(&[
        0x30, 0x2f, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
        0x04, 0x20,
    ]);
    let mut contents = vec![
        without_null.clone(),
        digest.to_vec(),
        // The algorithm's NULL replaced by an empty sequence, and by a NULL of another length.
        digest_info(&[
            0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
            0x01, 0x30, 0x00, 0x04, 0x20,
        ]),
        digest_info(&[
            0x30, 0x32, 0x30, 0x0e, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
            0x01, 0x05, 0x01, 0x00, 0x04, 0x20,
        ]),
        // Lengths in long form, and of indefinite form.
        digest_info(&[
            0x30, 0x81, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04,
            0x02, 0x01, 0x05, 0x00, 0x04, 0x20,
        ]),
        digest_info(&[
            0x30, 0x80, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
            0x01, 0x05, 0x00, 0x04, 0x20,
        ]),
        // Other digests by name: SHA-224, SHA-384, SHA-512, SHA-1 over the same bytes.
        digest_info(&[
            0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
            0x04, 0x05, 0x00, 0x04, 0x20,
        ]),
        digest_info(&[
            0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
            0x02, 0x05, 0x00, 0x04, 0x20,
        ]),
        digest_info(&[
            0x30, 0x29, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04,
            0x20,
        ]),
    ];
    // Garbage behind the digest, inside and outside of the sequence.
    let mut behind = digest_info(&DIGEST_INFO);
    behind.extend_from_slice(b"\x05\x00");
    contents.push(behind);
    without_null.push(0x00);
    contents.push(without_null);
    let mut cut = digest_info(&DIGEST_INFO);
    cut.pop();
    contents.push(cut);
    let mut other_message = DIGEST_INFO.to_vec();
    other_message.extend_from_slice(&Sha256::digest(b"123401"));
    contents.push(other_message);
    for (number, content) in contents.iter().enumerate() {
        let signature = signature_of_block(&padded(content));
        assert!(!is_valid(&signature), "content {number}");
    }
}

#[test]
fn j12_the_signature_has_exactly_the_length_of_the_modulus() {
    let right = key().sign(MESSAGE).unwrap();
    let with_zero = [&[0x00], right.as_slice()].concat();
    let with_tail = [right.as_slice(), &[0x00]].concat();
    for wrong in [
        &[][..],
        &[0x00],
        &right[1..],
        &right[..LENGTH - 1],
        &with_zero,
        &with_tail,
    ] {
        assert!(!is_valid(wrong), "{} bytes", wrong.len());
    }
    // A valid signature that begins with a zero byte must keep it.
    let (message, signature) = (0_u32..)
        .map(|number| number.to_be_bytes())
        .map(|message| (message, pair().sign(&message).unwrap()))
        .find(|(_, signature)| signature[0] == 0)
        .unwrap();
    assert!(key().verifying_key().is_signature_of(&signature, &message));
    assert!(
        !key()
            .verifying_key()
            .is_signature_of(&signature[1..], &message)
    );
}

#[test]
fn j12_numbers_that_are_not_below_the_modulus_are_refused() {
    let modulus = modulus_bytes();
    let zero = vec![0; LENGTH];
    let mut one = zero.clone();
    one[LENGTH - 1] = 1;
    let plus_one = sum(&modulus, &one).unwrap();
    for wrong in [&modulus, &plus_one, &vec![0xff; LENGTH], &zero] {
        assert!(!is_valid(wrong));
    }
    // s + n opens to the same block as s; it fits into the length when s is small enough.
    let (message, shifted) = (0_u32..)
        .map(|number| number.to_be_bytes())
        .find_map(|message| {
            let signature = pair().sign(&message).unwrap();
            Some((message, sum(&signature, &modulus)?))
        })
        .unwrap();
    assert!(!key().verifying_key().is_signature_of(&shifted, &message));
}

/// The sum of two big-endian numbers of the same length, unless it is longer.
fn sum(left: &[u8], right: &[u8]) -> Option<Vec<u8>> {
    let mut carry = 0;
    let mut digits: Vec<u8> = left
        .iter()
        .zip(right)
        .rev()
        .map(|(left, right)| {
            let total = u16::from(*left) + u16::from(*right) + carry;
            carry = total >> 8;
            total.to_le_bytes()[0]
        })
        .collect();
    digits.reverse();
    (carry == 0).then_some(digits)
}

#[test]
fn j13_moduli_outside_2048_to_4096_bits_and_even_ones_are_refused() {
    let modulus = |bytes: usize, first: u8, last: u8| {
        let mut modulus = vec![0xa5; bytes];
        modulus[0] = first;
        modulus[bytes - 1] = last;
        VerifyingKey::from_components(&modulus, &[1, 0, 1])
    };
    for (bytes, first) in [
        (128, 0xff),
        (256, 0x7f),
        (513, 0x01),
        (1024, 0xff),
        (100_000, 0xff),
    ] {
        assert_eq!(
            modulus(bytes, first, 0x01).unwrap_err(),
            InvalidKeyError::Modulus,
            "{bytes} bytes"
        );
    }
    for (bytes, first) in [
        (256, 0x80),
        (257, 0x01),
        (300, 0xff),
        (384, 0xff),
        (385, 0x01),
        (512, 0xff),
    ] {
        assert!(modulus(bytes, first, 0x01).is_ok(), "{bytes} bytes");
    }
    assert_eq!(
        modulus(256, 0xff, 0x02).unwrap_err(),
        InvalidKeyError::Modulus
    );
    assert_eq!(
        VerifyingKey::from_components(&[], &[1, 0, 1]).unwrap_err(),
        InvalidKeyError::Modulus
    );
    assert_eq!(
        VerifyingKey::from_components(&[0; 256], &[1, 0, 1]).unwrap_err(),
        InvalidKeyError::Modulus
    );
}

#[test]
fn j13_exponents_other_than_65537_are_refused() {
    let modulus = modulus_bytes();
    for exponent in [
        &[][..],
        &[0],
        &[1],
        &[3],
        &[17],
        &[1, 0, 0],
        &[1, 0, 3],
        &[1, 0, 0, 1],
    ] {
        let refused = VerifyingKey::from_components(&modulus, exponent).unwrap_err();
        assert_eq!(refused, InvalidKeyError::Exponent);
    }
    let key = VerifyingKey::from_components(&[&[0], modulus.as_slice()].concat(), &[0, 1, 0, 1]);
    assert!(
        key.unwrap()
            .is_signature_of(&pair().sign(MESSAGE).unwrap(), MESSAGE)
    );
}

#[test]
fn private_keys_that_cannot_sign_are_refused() {
    let elliptic = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    for pem in [
        "",
        "key",
        &elliptic.serialize_pem(),
        &pair().public_key_pem(),
    ] {
        assert_eq!(
            SigningKey::from_pem(pem).err(),
            Some(InvalidKeyError::Encoding)
        );
    }
    let mut mismatched = key().clone();
    let last = mismatched.exponent.len() - 1;
    mismatched.exponent[last] ^= 0x02;
    assert_eq!(mismatched.sign(MESSAGE), Err(InvalidKeyError::Mismatch));
}

#[test]
fn the_provider_does_rs256_and_nothing_else() {
    let provider: &CryptoProvider = &CRYPTO_PROVIDER;
    // PKCS#8 of an RSA key is a fixed head of 26 bytes before PKCS#1.
    let encoding = EncodingKey::from_rsa_der(&pair().serialize_der()[26..]);
    let decoding = DecodingKey::from_rsa_raw_components(&modulus_bytes(), &[1, 0, 1]);
    let signer = (provider.signer_factory)(&Algorithm::RS256, &encoding).unwrap();
    let signature = signer.try_sign(MESSAGE).unwrap();
    let verifier = (provider.verifier_factory)(&Algorithm::RS256, &decoding).unwrap();
    assert!(verifier.verify(MESSAGE, &signature).is_ok());
    assert!(verifier.verify(b"other", &signature).is_err());
    for other in [
        Algorithm::HS256,
        Algorithm::RS384,
        Algorithm::PS256,
        Algorithm::ES256,
    ] {
        assert!((provider.verifier_factory)(&other, &decoding).is_err());
        assert!((provider.signer_factory)(&other, &encoding).is_err());
    }
    let secret = DecodingKey::from_secret(&modulus_bytes());
    assert!((provider.verifier_factory)(&Algorithm::RS256, &secret).is_err());
}
