//! One list of what a write may say: the member that a field sets, its conversion, and what is shown of it.

/// Makes `FIELDS`, the table of the fields, and `changes`, which reads them in their order.
///
/// A row is `member: conversion = field;`: the conversion is a method of [`Fields`](super::Fields), the field one of
/// [`field`](crate::vault::field). Fields without effect are taken and not read.
macro_rules! fields_of_write {
    (
        $changes:ident { $($member:ident: $convert:ident = $field:expr;)* }
        without_effect { $($unread:expr;)* }
    ) => {
        /// All that a write may say, beside what its path does.
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
