//! Behaviour of the composed product, driven from outside.
