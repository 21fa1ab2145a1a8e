//! The checker of histories, and the models that it is given.

#![allow(missing_docs)]

mod checker;
mod models;
