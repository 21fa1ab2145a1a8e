//! Texts for operators about roles.

use gatehouse_access_api::{
    ExcessiveLife, InvalidRange, RenamedField, ServiceField, TokenRoleError, TokenRoleWarning,
};

use crate::vault::errors::ApiError;
use crate::vault::text::quoted;

const BATCH: &str = "'token_type' cannot be 'batch' when role is set to generate";
const NO_BATCH: &str = "error parsing role fields: 'token_type' cannot be 'batch' or 'default_batch' when set to generate";

/// The refusal of a write.
pub(super) fn api_error(error: TokenRoleError) -> ApiError {
    let text = match error {
        TokenRoleError::Failure(failure) => return failure.into(),
        TokenRoleError::InvalidName => return ApiError::unsupported_path(),
        TokenRoleError::Denied => return ApiError::denied(),
        TokenRoleError::InvalidPathSuffix => {
            r"given role path suffix contains invalid characters; must match \w[\w-.]+\w".to_owned()
        }
        TokenRoleError::PathSuffixWithParent => {
            "error registering path suffix: path cannot contain parent references".to_owned()
        }
        TokenRoleError::NegativeNumUses => {
            "error parsing role fields: 'token_num_uses' cannot be negative".to_owned()
        }
        TokenRoleError::InvalidBoundCidr(InvalidRange {
            range,
            old_spelling,
        }) => {
            let what = if old_spelling {
                "bound_cidrs"
            } else {
                "role fields"
            };
            format!(
                "error parsing {what}: error parsing address {}: it is neither an IP address nor a CIDR",
                quoted(&range)
            )
        }
        TokenRoleError::InvalidTokenType(name) => {
            format!("invalid 'token_type' value {}", quoted(&name))
        }
        TokenRoleError::BatchWithParent => format!("{BATCH} non-orphan tokens"),
        TokenRoleError::RenewableBatch => format!("{BATCH} renewable tokens"),
        TokenRoleError::BatchWith(field) => batch_with(field),
        error @ (TokenRoleError::TooLarge(_) | TokenRoleError::OnlyBlanks) => error.to_string(),
    };
    ApiError::plain(400, text)
}

fn batch_with(field: ServiceField) -> String {
    match field {
        ServiceField::Period => format!("{BATCH} periodic tokens"),
        ServiceField::NumUses => format!("{NO_BATCH} tokens with limited use count"),
        ServiceField::ExplicitMaxTtl => format!("{BATCH} tokens with an explicit max TTL"),
    }
}

/// The text of a warning about a role that was written.
pub(super) fn warning(warning: &TokenRoleWarning) -> String {
    match warning {
        TokenRoleWarning::OldSpellingIgnored(field) => {
            let name = match field {
                RenamedField::Period => "period",
                RenamedField::BoundCidrs => "bound_cidrs",
                RenamedField::ExplicitMaxTtl => "explicit_max_ttl",
            };
            format!(
                "Both 'token_{name}' and deprecated '{name}' value supplied, ignoring the deprecated value"
            )
        }
        TokenRoleWarning::ExplicitMaxTtlAboveMount(ExcessiveLife {
            explicit_max_ttl,
            mount_max,
        }) => format!(
            "Given explicit max TTL of {explicit_max_ttl} is greater than system/mount allowed value of {mount_max} seconds; tokens of this role will not live longer than that"
        ),
    }
}
