//! `sys/plugins/catalog`: the methods that can be enabled (contract 6.1). They are built in, so the catalog is read-only.

use serde_json::json;

use super::call::{Answer, Call, METHOD_TYPE};
use super::envelope::Reply;
use super::errors::ApiError;
use super::mounts::PLUGIN_VERSION;

/// `sys/plugins/catalog`
pub(super) fn all(_: &Call<'_>) -> Answer {
    let method = json!({
        "type": "auth",
        "name": METHOD_TYPE,
        "version": PLUGIN_VERSION,
        "builtin": true,
        "deprecation_status": "supported",
    });
    Reply::data(&json!({ "auth": [METHOD_TYPE], "detailed": [method] })).map(Some)
}

/// `sys/plugins/catalog/<type>`
pub(super) fn names(call: &Call<'_>) -> Answer {
    if call.captured("type")? != "auth" {
        return Err(ApiError::absent());
    }
    Reply::data(&json!({ "keys": [METHOD_TYPE] })).map(Some)
}

/// `sys/plugins/catalog/<type>/<name>`
pub(super) fn one(call: &Call<'_>) -> Answer {
    if (call.captured("type")?, call.captured("name")?) != ("auth", METHOD_TYPE) {
        return Err(ApiError::absent());
    }
    Reply::data(&json!({
        "name": METHOD_TYPE,
        "args": null,
        "command": "",
        "sha256": "",
        "builtin": true,
        "version": PLUGIN_VERSION,
        "deprecation_status": "supported",
    }))
    .map(Some)
}
