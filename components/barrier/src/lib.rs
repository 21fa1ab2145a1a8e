//! Authenticated encryption of stored records, and the keyring behind it.
