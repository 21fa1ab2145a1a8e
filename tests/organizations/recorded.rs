//! Recorded requests of the command lines and the provider, replayed (contract 6.8, 6.9).

use crate::replay::replay;
use crate::session::{Client, Session};

/// A scenario for each recording.
macro_rules! recordings {
    ($($client:ident: $($scenario:ident),+ $(,)?;)+) => {
        $($(
            fn $scenario(session: &Session<'_>) {
                let recording = include_str!(concat!("recordings/", stringify!($scenario), ".json"));
                replay(session, Client::$client, recording);
            }
        )+)+
    };
}

recordings! {
    CommandLine:
        terraform_init_and_run,
        terraform_login;
    GoTfe:
        provider_organization_basic,
        provider_organization_full,
        provider_organization_update_stacks_enabled,
        provider_organization_max_ttl_enabled,
        provider_organization_user_tokens_enabled,
        provider_organization_case,
        provider_organization_of_the_later_line,
        provider_default_settings_remote_and_local,
        provider_default_settings_agent_and_update,
        provider_organization_token,
        provider_organization_token_with_expiry,
        provider_audit_trail_token,
        provider_token_lifetimes,
        provider_membership,
        provider_data_retention_policy,
        provider_module_sharing,
        provider_admin_organization_settings,
        provider_data_sources;
}

scenarios! {
    both:
        terraform_init_and_run,
        terraform_login,
        provider_organization_basic,
        provider_organization_full,
        provider_organization_update_stacks_enabled,
        provider_organization_max_ttl_enabled,
        provider_organization_user_tokens_enabled,
        provider_organization_case,
        provider_organization_of_the_later_line,
        provider_default_settings_remote_and_local,
        provider_default_settings_agent_and_update,
        provider_organization_token,
        provider_organization_token_with_expiry,
        provider_token_lifetimes,
        provider_membership,
        provider_data_sources;
    hosted:
        provider_audit_trail_token;
    self_hosted:
        provider_data_retention_policy,
        provider_module_sharing,
        provider_admin_organization_settings;
}
