//! The fields of a configuration: names, types and texts (contract 1.4, 2.2).

use gatehouse_auth_method_api::ConfigChanges;

use crate::vault::field::{Field, boolean, choice, map, seconds, text, texts};
use crate::vault::fields::{ConversionError, Fields, fields_of_write};

fields_of_write! {
    ConfigChanges {
        credentials: string = text("credentials", "The JSON key of a service account; an empty text removes it.");
        iam_alias: string = choice("iam_alias", &["role_id", "unique_id"], "How logins under iam roles are named in identity.");
        gce_alias: string = choice("gce_alias", &["role_id", "instance_id"], "How logins under gce roles are named in identity.");
        iam_metadata: list = texts("iam_metadata", "The metadata that tokens of iam roles carry; \"default\" stands for the usual fields.");
        gce_metadata: list = texts("gce_metadata", "The metadata that tokens of gce roles carry; \"default\" stands for the usual fields.");
        custom_endpoint: map = map("custom_endpoint", "Endpoints to use in place of Google's, by the keys api, iam, crm and compute.");
        service_account_email: string = text("service_account_email", "The service account to be impersonated with identity tokens.");
        identity_token_audience: string = text("identity_token_audience", "The audience of identity tokens, with which the method calls Google without a stored key.");
        identity_token_ttl: duration = seconds("identity_token_ttl", "How long an identity token is valid.");
        rotation_schedule: string = text("rotation_schedule", "When the stored key is rotated, as a cron expression.");
        rotation_period: duration = seconds("rotation_period", "How often the stored key is rotated.");
        rotation_window: duration = seconds("rotation_window", "How late a scheduled rotation may be.");
        rotation_policy: string = text("rotation_policy", "Accepted for clients that send it; has no effect.");
        disable_automated_rotation: boolean = boolean("disable_automated_rotation", "Stops rotations by schedule and by period.");
    }
    without_effect {
        // Old libraries send it with every write.
        text("google_certs_endpoint", "Has no effect.").deprecated();
    }
}
