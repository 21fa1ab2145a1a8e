//! One table for the fields of a write: the member that a field sets, its conversion, and its description.

/// Defines `FIELDS`, the table of the fields, and `changes`, which reads them in the order of the table.
///
/// A row is `member: conversion = field;`. The conversion is a method of [`Fields`](super::Fields), and the field one of
/// [`field`](crate::vault::field). Fields without effect are accepted and not read.
macro_rules! fields_of_write {
    (
        $changes:ident { $($member:ident: $convert:ident = $field:expr;)* }
        without_effect { $($unread:expr;)* }
    ) => {
        /// The fields that a write accepts, apart from those in its path.
        pub(in crate::vault) const FIELDS: &[Field] = &[$($field,)* $($unread,)*];

        /// Reads the fields of a write.
        ///
        /// # Errors
        ///
        /// When a field has a value that its type does not take.
        pub(in crate::vault) fn changes(fields: &Fields<'_>) -> Result<$changes, ConversionError> {
            Ok($changes {
                $($member: {
                    const FIELD: Field = $field;
                    fields.$convert(FIELD.name)?
                },)*
            })
        }
    };
}

pub(crate) use fields_of_write;
