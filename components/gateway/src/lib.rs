//! The HTTP front: two wire protocols over three capabilities.
