//! The interface `wrapping`.

use super::{Component, access, types_wit, wrapping_wit};
use crate::{Access, UnwrapError, WrapError, WrapRequest, WrappingToken, WrappingView};

impl wrapping_wit::Guest for Component {
    fn wrap(
        request: wrapping_wit::WrapRequest,
    ) -> Result<wrapping_wit::WrappingToken, wrapping_wit::WrapError> {
        let request = WrapRequest {
            content: &request.content,
            creation_path: &request.creation_path,
            ttl: request.ttl,
            wrapped_accessor: request.wrapped_accessor.as_deref(),
        };
        Ok(access(|it| it.wrap(&request))?.into())
    }

    fn read(token: String) -> Result<wrapping_wit::WrappingView, wrapping_wit::UnwrapError> {
        Ok(access(|it| it.read_wrapping(&token))?.into())
    }

    fn unwrap(token: String) -> Result<Vec<u8>, wrapping_wit::UnwrapError> {
        Ok(access(|it| it.unwrap_content(&token))?)
    }

    fn rewrap(
        token: String,
        ttl: Option<u64>,
    ) -> Result<wrapping_wit::WrappingToken, wrapping_wit::UnwrapError> {
        Ok(access(|it| it.rewrap(&token, ttl))?.into())
    }
}

impl From<WrappingToken> for wrapping_wit::WrappingToken {
    fn from(wrapping: WrappingToken) -> Self {
        Self {
            token: wrapping.client_token.expose().to_owned(),
            accessor: wrapping.accessor,
            ttl: wrapping.ttl,
            creation_time: wrapping.creation_time,
            creation_path: wrapping.creation_path,
            wrapped_accessor: wrapping.wrapped_accessor,
        }
    }
}

impl From<WrappingView> for wrapping_wit::WrappingView {
    fn from(view: WrappingView) -> Self {
        Self {
            creation_time: view.creation_time,
            creation_ttl: view.creation_ttl,
            creation_path: view.creation_path,
        }
    }
}

impl From<WrapError> for wrapping_wit::WrapError {
    fn from(error: WrapError) -> Self {
        match error {
            WrapError::NoTtl => Self::NoTtl,
            WrapError::TooLarge(most) => Self::TooLarge(most),
            WrapError::Failure(failure) => Self::Failure(types_wit::Failure::from(failure)),
        }
    }
}

impl From<UnwrapError> for wrapping_wit::UnwrapError {
    fn from(error: UnwrapError) -> Self {
        match error {
            UnwrapError::InvalidToken => Self::InvalidToken,
            UnwrapError::Failure(failure) => Self::Failure(types_wit::Failure::from(failure)),
        }
    }
}
