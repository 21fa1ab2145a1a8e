//! Statements of the repository's files about each other: rules that are cited exist, links lead somewhere, no files import each other
//! in a circle, and the pages of the reference say what the sources do.

mod citations;
mod contracts;
mod imports;
mod links;
mod reference;
mod sources;
