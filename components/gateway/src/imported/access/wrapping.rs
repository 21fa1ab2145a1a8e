//! Wrapped responses.

use gatehouse_access::{
    ClientToken, UnwrapError, WrapError, WrapRequest, WrappingToken, WrappingView,
};

use super::wrapping_wit as wit;

same_fields!(wit::WrappingView => WrappingView { creation_time, creation_ttl, creation_path });

impl From<&WrapRequest<'_>> for wit::WrapRequest {
    fn from(from: &WrapRequest<'_>) -> Self {
        Self {
            content: from.content.to_vec(),
            creation_path: from.creation_path.to_owned(),
            ttl: from.ttl,
            wrapped_accessor: from.wrapped_accessor.map(ToOwned::to_owned),
        }
    }
}

impl From<wit::WrappingToken> for WrappingToken {
    fn from(from: wit::WrappingToken) -> Self {
        Self {
            client_token: ClientToken::new(from.token),
            accessor: from.accessor,
            ttl: from.ttl,
            creation_time: from.creation_time,
            creation_path: from.creation_path,
            wrapped_accessor: from.wrapped_accessor,
        }
    }
}

impl From<wit::WrapError> for WrapError {
    fn from(from: wit::WrapError) -> Self {
        match from {
            wit::WrapError::NoTtl => Self::NoTtl,
            wit::WrapError::TooLarge(most) => Self::TooLarge(most),
            wit::WrapError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<wit::UnwrapError> for UnwrapError {
    fn from(from: wit::UnwrapError) -> Self {
        match from {
            wit::UnwrapError::InvalidToken => Self::InvalidToken,
            wit::UnwrapError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
