//! Authenticated encryption between the capabilities and a store that need not be trusted.
//!
//! **What holds** (SEC-K1 to SEC-K4):
//!
//! - A [`Barrier`] seals a value together with the end of its life and binds it to its [`Address`] (store name and full key)
//!   and to the format version. A record that was altered, cut, exchanged with another, moved to another store or key, or
//!   relabelled as another format does not open.
//! - A record is sealed by the active key of a [`Keyring`]. [`Keyring::rotate`] adds a key under the next [`Term`]; what
//!   earlier terms sealed stays readable until those are [retired](Keyring::retire_earlier).
//! - The keyring is stored sealed by a [`RootKey`], which is kept somewhere else. Without that key nothing opens.
//! - A root key can be [split](RootKey::split) into [`KeyShare`]s. As many as a [`Sharing`] says yield it; one fewer say nothing
//!   about it.
//! - Further keys are [derived](RootKey::derived) from a root key, and say nothing about it.
//! - A root key [attests](RootKey::attest) statements, such as the digest of a backup: who has the key sees that a holder of it made them.
//! - Secrets are wiped when dropped, and their types can be neither printed, cloned nor compared.
//!
//! **What does not**: keys of records stay readable, since a store has to order them. The version that a store gives an entry
//! is not bound, because it exists only after sealing; so a store that puts an older sealed value back under the same key is
//! not noticed here, nor is one that drops an entry. A value's length shows, to the byte.
//!
//! **Which cipher, and why**: AES-256-GCM in the construction XAES-256-GCM that C2SP has published: the first half of a 192-bit
//! nonce derives the key of one message, the second half is the nonce under it. So nonces can be random for 2^80 messages under
//! one key and nothing has to be counted (SEC-K4); plain AES-256-GCM with its 96-bit ones must stop at 2^32, which a busy server
//! reaches in days. XChaCha20-Poly1305 offers the same margin, and was measured in its place: it took a login from 8 µs of
//! sealing and opening to 21 µs on a processor with instructions for AES, which the crate `xaes-256-gcm` uses.
//!
//! WebAssembly has no such instructions. A component, as under Spin, therefore seals records by XChaCha20-Poly1305, which takes it
//! 2.0 µs for 400 bytes where XAES-256-GCM takes 7.8 µs. The first byte of a record says which of the two sealed it, and each
//! build opens both: an installation can move between Spin and the server, and records of earlier versions stay readable.
//! Keyrings, handovers and attestations are rare and sealed by XAES-256-GCM everywhere.
//!
//! There is no I/O here; the crate serves a native host and a WebAssembly component alike.

mod attestation;
mod barrier;
mod cipher;
mod derivation;
mod keyring;
mod record_cipher;
mod root_key;
mod shares;

pub use attestation::ATTESTATION_BYTES;
pub use barrier::{Address, Barrier, OpenError, Record, SEALED_OVERHEAD_BYTES, SealError};
pub use cipher::NONCE_BYTES;
pub use keyring::{Keyring, KeyringError, Term};
pub use root_key::{RootKey, RootKeyError};
pub use shares::{KeyShare, Sharing, SharingError, SplitError};
