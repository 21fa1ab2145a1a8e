//! Tokens, policies, identity and mounts.
