//! Conversions between the types of an interface and plain ones that are alike.

/// Both directions between two enumerations with the same cases, which hold nothing.
macro_rules! same_cases {
    ($wit:ty, $plain:ty, $($case:ident),+ $(,)?) => {
        impl From<$wit> for $plain {
            fn from(from: $wit) -> Self {
                match from {
                    $(<$wit>::$case => Self::$case),+
                }
            }
        }

        impl From<$plain> for $wit {
            fn from(from: $plain) -> Self {
                match from {
                    $(<$plain>::$case => Self::$case),+
                }
            }
        }
    };
}

/// One direction between two records with the same fields.
macro_rules! same_fields {
    ($from:ty => $to:ty { $($field:ident),+ $(,)? }) => {
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                Self { $($field: from.$field.into()),+ }
            }
        }
    };
}
