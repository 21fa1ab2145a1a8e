//! Organizations and what belongs to them.
