//! The fields of a configuration: names, types and texts (contract 1.4, 2.2).

use gatehouse_auth_method_api::ConfigChanges;

use crate::vault::field::{Field, boolean, choice, map, seconds, text, texts};
use crate::vault::fields::{ConversionError, Fields, fields_of_write};

fields_of_write! {
    ConfigChanges {
        credentials: string = text("credentials", "The key of a service account, as Google gives it out in JSON; an empty text removes it.");
        iam_alias: string = choice("iam_alias", &["role_id", "unique_id"], "What logins under iam roles are known by in identity.");
        gce_alias: string = choice("gce_alias", &["role_id", "instance_id"], "What logins under gce roles are known by in identity.");
        iam_metadata: list = texts("iam_metadata", "Which metadata tokens of iam roles carry; \"default\" stands for the usual ones.");
        gce_metadata: list = texts("gce_metadata", "Which metadata tokens of gce roles carry; \"default\" stands for the usual ones.");
        custom_endpoint: map = map("custom_endpoint", "Other endpoints of Google's, by api, iam, crm and compute.");
        service_account_email: string = text("service_account_email", "The service account to be impersonated with identity tokens.");
        identity_token_audience: string = text("identity_token_audience", "The audience of identity tokens, with which the method asks Google without a stored key.");
        identity_token_ttl: duration = seconds("identity_token_ttl", "How long such an identity token is good for.");
        rotation_schedule: string = text("rotation_schedule", "When the stored key is rotated, as cron writes it.");
        rotation_period: duration = seconds("rotation_period", "After how long the stored key is rotated.");
        rotation_window: duration = seconds("rotation_window", "How late a scheduled rotation may be.");
        rotation_policy: string = text("rotation_policy", "Kept for clients that send it.");
        disable_automated_rotation: boolean = boolean("disable_automated_rotation", "Stops rotations by schedule and by period.");
    }
    without_effect {
        // Sent by old libraries on every write.
        text("google_certs_endpoint", "Has no effect.").deprecated();
    }
}
