//! The forms that twins can have. Each names a module of generated types and a type that has the same name here.

/// Two records with the same fields.
#[doc(hidden)]
#[macro_export]
macro_rules! crossing_record {
    ($wit:ident :: $name:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::crossing::FromAcross<$wit::$name> for $crate::$name {
            fn from_across(value: $wit::$name) -> Self {
                Self { $($field: $crate::crossing::Across::across(value.$field)),+ }
            }
        }

        impl $crate::crossing::FromAcross<$crate::$name> for $wit::$name {
            fn from_across(value: $crate::$name) -> Self {
                Self { $($field: $crate::crossing::Across::across(value.$field)),+ }
            }
        }
    };
}

/// Two enumerations with the same cases. Beside those that hold nothing there may be
///
/// - `holds`: cases with one value without a name on both sides,
/// - `names`: cases with one value, which has a name here,
/// - `units`: cases that hold, here only, a value that says no more than the case,
/// - `records`: cases with several values, which have names here and the record given in brackets there; `there = here` where the names
///   differ.
#[doc(hidden)]
#[macro_export]
macro_rules! crossing_cases {
    (
        $wit:ident :: $name:ident { $($empty:ident),* $(,)? }
        $(holds { $($holding:ident),* $(,)? })?
        $(names { $($naming:ident { $named:ident }),* $(,)? })?
        $(units { $($said:ident($unit:path)),* $(,)? })?
        $(records { $($case:ident($record:ident) { $($there:ident = $here:ident),* $(,)? }),* $(,)? })?
    ) => {
        impl $crate::crossing::FromAcross<$wit::$name> for $crate::$name {
            fn from_across(value: $wit::$name) -> Self {
                match value {
                    $($wit::$name::$empty => Self::$empty,)*
                    $($($wit::$name::$holding(it) => Self::$holding($crate::crossing::Across::across(it)),)*)?
                    $($($wit::$name::$naming(it) => Self::$naming {
                        $named: $crate::crossing::Across::across(it),
                    },)*)?
                    $($($wit::$name::$said => Self::$said($unit),)*)?
                    $($($wit::$name::$case(it) => Self::$case {
                        $($here: $crate::crossing::Across::across(it.$there)),*
                    },)*)?
                }
            }
        }

        impl $crate::crossing::FromAcross<$crate::$name> for $wit::$name {
            fn from_across(value: $crate::$name) -> Self {
                match value {
                    $($crate::$name::$empty => Self::$empty,)*
                    $($($crate::$name::$holding(it) => Self::$holding($crate::crossing::Across::across(it)),)*)?
                    $($($crate::$name::$naming { $named } => {
                        Self::$naming($crate::crossing::Across::across($named))
                    })*)?
                    $($($crate::$name::$said(_) => Self::$said,)*)?
                    $($($crate::$name::$case { $($here),* } => Self::$case($wit::$record {
                        $($there: $crate::crossing::Across::across($here)),*
                    }),)*)?
                }
            }
        }
    };
}
