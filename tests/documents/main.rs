//! What the files of the repository say of each other: rules that are cited exist and links lead
//! somewhere.

mod citations;
mod contracts;
mod links;
mod sources;
