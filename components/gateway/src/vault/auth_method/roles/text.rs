//! Texts for operators about roles (contract 3.2, 3.3, 3.6).

use gatehouse_access_api::duration;
use gatehouse_auth_method_api::{
    AboveBound, DeprecatedField, EditError, FieldsOfOtherType, RoleError, RoleType, RoleWarning,
    SentTwice,
};
use gatehouse_ports::RandomError;

use super::fields::List;
use crate::vault::errors::ApiError;
use crate::vault::text::{quoted, quoted_list};

const BATCH: &str = "'token_type' cannot be 'batch' or 'default_batch' when set to generate";

/// The refusal of a write.
pub(super) fn api_error(error: RoleError) -> ApiError {
    let text = match error {
        RoleError::Storage(error) => return error.into(),
        RoleError::Random => return RandomError.into(),
        RoleError::InvalidName => return ApiError::unsupported_path(),
        // The policies grant only one of `create` and `update`, and the write needed the other.
        RoleError::Exists | RoleError::DoesNotExist => return ApiError::denied(),
        RoleError::BoundCidr(address) => {
            format!("error parsing address {}: it is neither an IP address nor a CIDR", quoted(&address))
        }
        RoleError::NegativeNumberOfUses => "'token_num_uses' cannot be negative".to_owned(),
        RoleError::TokenType(name) => format!("invalid 'token_type' value {}", quoted(&name)),
        RoleError::PeriodicBatch => format!("{BATCH} periodic tokens"),
        RoleError::LimitedUseBatch => format!("{BATCH} tokens with limited use count"),
        RoleError::TtlAboveMaximumTtl => {
            "'token_ttl' cannot be greater than 'token_max_ttl'".to_owned()
        }
        RoleError::PeriodAboveMountMaximum(above) => format!(
            "'period' of '{}' is greater than the backend's maximum lease TTL of '{}'",
            duration::full(above.given),
            duration::full(above.bound),
        ),
        RoleError::TypeMissing => "role type cannot be empty".to_owned(),
        RoleError::TypeInvalid(name) => format!("role type '{name}' is invalid"),
        RoleError::TypeChanged => "role type cannot be changed for an existing role".to_owned(),
        RoleError::WildcardWithOthers => "cannot provide IAM service account wildcard '*' (for all service accounts) with other service accounts".to_owned(),
        RoleError::ProjectsTwice => {
            "only one of 'bound_projects' or 'project_id' can be given".to_owned()
        }
        RoleError::FieldsOfOtherType(FieldsOfOtherType { role_type, fields }) => format!(
            "invalid args found for role of type {role_type}: {}",
            fields.join(",")
        ),
        RoleError::JwtLifetimeTooLong => "max_jwt_exp cannot be more than 60 minutes".to_owned(),
        RoleError::NoServiceAccounts => {
            "IAM role type must have at least one service account".to_owned()
        }
        RoleError::GroupsWithoutLocation => {
            "region or zone information must be specified if an instance group is given".to_owned()
        }
        RoleError::InvalidLabels(labels) => {
            format!("invalid labels given: {}", quoted_list(&labels))
        }
        RoleError::SentTwice(SentTwice { old, new }) => {
            format!("cannot specify both {} and {}", quoted(&old), quoted(&new))
        }
        RoleError::AliasSource(RoleType::Iam) => {
            "invalid 'alias_source': must be one of: role_id, unique_id".to_owned()
        }
        RoleError::AliasSource(RoleType::Gce) => {
            "invalid 'alias_source': must be one of: instance_id, role_id".to_owned()
        }
        RoleError::AncestorNumber(entry) => {
            format!("{} is not the number of a folder or an organization", quoted(&entry))
        }
        RoleError::NeedsLiveChecks(fields) => format!(
            "cannot be checked while 'live_checks' is off: {}",
            fields.join(",")
        ),
        error @ (RoleError::BlankList(_)
        | RoleError::TooMany(_)
        | RoleError::TooLong(_)
        | RoleError::TooLarge) => error.to_string(),
    };
    ApiError::plain(400, text)
}

/// The refusal of a change to one list.
pub(super) fn not_edited(error: EditError, list: List) -> ApiError {
    let text = match error {
        EditError::Storage(error) => return error.into(),
        EditError::Role(error) => return api_error(error),
        EditError::Empty => "must provide at least one value to add or remove".to_owned(),
        EditError::RoleNotFound(name) => format!("role {} not found", quoted(&name)),
        EditError::WrongType(found) => {
            let (attribute, expected) = match list {
                List::ServiceAccounts => ("service_accounts", RoleType::Iam),
                List::Labels => ("labels", RoleType::Gce),
            };
            format!(
                "role is type '{found}', cannot edit attribute '{attribute}' (expected role type: '{expected}')"
            )
        }
        EditError::InvalidLabels(labels) => {
            format!("given invalid labels to add: {}", quoted_list(&labels))
        }
    };
    ApiError::plain(400, text)
}

/// A warning about a role that was stored.
pub(super) fn warning(warning: &RoleWarning) -> String {
    match warning {
        RoleWarning::DeprecatedField(DeprecatedField { used, instead }) if used == "project_id" => format!("The {} (singular) field is deprecated. Use {} instead.", quoted(used), quoted(instead)),
        RoleWarning::DeprecatedField(DeprecatedField { used, instead }) => {
            format!("The {} field is deprecated. Use {} instead.", quoted(used), quoted(instead))
        }
        RoleWarning::TtlAboveMountMaximum(above) => above_maximum("ttl", above),
        RoleWarning::MaximumTtlAboveMountMaximum(above) => above_maximum("max ttl", above),
        RoleWarning::TtlAboveMountDefault(above) => above_default("ttl", above),
        RoleWarning::GroupAliasesOnSharedEntity => {
            "\"add_group_aliases\" is on while the alias of this role is \"role_id\": all users of this role share one entity, and with it the groups of the last one that logged in".to_owned()
        }
        RoleWarning::AnyServiceAccountOfAnyProject => {
            "\"bound_service_accounts\" is \"*\" and \"bound_projects\" is empty: every service account of Google Cloud can log in with this role".to_owned()
        }
        RoleWarning::PeriodAboveMountMaximum(above) => above_maximum("period", above),
        RoleWarning::MaximumTtlAboveMountDefault(above) => above_default("max_ttl", above),
        RoleWarning::RegionsBesideZones => {
            "Given both \"bound_regions\" and \"bound_zones\" fields for role type \"gce\", \"bound_regions\" will be ignored in favor of the more specific \"bound_zones\" field. To mend it, write the role with one of the two empty.".to_owned()
        }
        RoleWarning::BoundByLabelsOnly => {
            "\"bound_labels\" alone binds this role: everyone who may edit an instance, in any project, can give it these labels".to_owned()
        }
        RoleWarning::ClaimsTrusted => {
            "\"live_checks\" is off: an instance that was deleted, or an account that was disabled, can log in until its token expires".to_owned()
        }
    }
}

fn above_maximum(what: &str, above: &AboveBound) -> String {
    let maximum = quoted(&duration::full(above.bound));
    format!(
        "Given token {what} of {} is greater than the maximum system/mount TTL of {maximum}. The TTL will be capped at {maximum} during login.",
        quoted(&duration::full(above.given)),
    )
}

fn above_default(what: &str, above: &AboveBound) -> String {
    let AboveBound { given, bound } = above;
    format!(
        "Given {what} of {given} seconds greater than current mount/system default of {bound} seconds; {what} will be capped at login time"
    )
}
