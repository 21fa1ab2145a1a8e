//! Statements of the repository's files about each other: rules that are cited exist, links lead somewhere, no files import each other
//! in a circle, the pages of the reference say what the sources do, and example configurations are right.

mod citations;
mod configurations;
mod contracts;
mod imports;
mod links;
mod reference;
mod sources;
