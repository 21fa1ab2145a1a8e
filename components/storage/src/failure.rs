//! The way of what the store and the generator of randomness fail with into the errors of capabilities.

/// Makes the failure of every call of a capability from what the store and the generator of randomness fail with.
///
/// It is an enum with at least the cases `Sealed`, `Unavailable` and `Damaged` with a text for the log, `Contended` and `NoRandomness`. Each
/// capability has one of its own, for the WIT of each says which cases there are.
#[macro_export]
macro_rules! fails_with_the_store {
    ($failure:ty) => {
        impl From<$crate::StorageError> for $failure {
            fn from(error: $crate::StorageError) -> Self {
                use $crate::ports::StoreError;
                match error {
                    $crate::StorageError::Store(StoreError::Sealed) => Self::Sealed,
                    $crate::StorageError::Store(StoreError::Unavailable(why)) => {
                        Self::Unavailable(why)
                    }
                    $crate::StorageError::Contended(_) => Self::Contended,
                    error => Self::Damaged(error.to_string()),
                }
            }
        }

        impl From<$crate::ports::StoreError> for $failure {
            fn from(error: $crate::ports::StoreError) -> Self {
                $crate::StorageError::from(error).into()
            }
        }

        impl From<$crate::ports::RandomError> for $failure {
            fn from(_: $crate::ports::RandomError) -> Self {
                Self::NoRandomness
            }
        }
    };
}

/// Lets `?` carry the same into the errors that wrap a capability's failure.
#[macro_export]
macro_rules! wraps_failure {
    ($failure:ty: $($error:ty),+ $(,)?) => {$(
        impl From<$crate::StorageError> for $error {
            fn from(error: $crate::StorageError) -> Self {
                <$failure>::from(error).into()
            }
        }

        impl From<$crate::ports::RandomError> for $error {
            fn from(error: $crate::ports::RandomError) -> Self {
                <$failure>::from(error).into()
            }
        }
    )+};
}
