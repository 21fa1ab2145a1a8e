//! The package `gatehouse:host` as `wit_bindgen` generates it. The functions call the imports of the component that they are linked into;
//! outside of one they abort. Errors, which have texts, and what may hold secrets are written by hand.

wit_bindgen::generate!({
    inline: "
        package gatehouse:services;
        world services {
            import gatehouse:host/seal@0.1.0;
            import gatehouse:host/audit@0.1.0;
            import gatehouse:host/rate-limits@0.1.0;
            import gatehouse:host/metrics@0.1.0;
            import gatehouse:host/log@0.1.0;
            import gatehouse:host/shared-store@0.1.0;
            import gatehouse:host/backups@0.1.0;
        }
    ",
    path: "../../wit/host",
    world: "gatehouse:services/services",
    with: {
        "gatehouse:host/seal@0.1.0/seal-error": crate::host::SealError,
        "gatehouse:host/seal@0.1.0/initialize-error": crate::host::InitializeSealError,
        "gatehouse:host/seal@0.1.0/unseal-error": crate::host::UnsealError,
        "gatehouse:host/audit@0.1.0/entry": crate::host::AuditEntry,
        "gatehouse:host/audit@0.1.0/audit-error": crate::host::AuditError,
        "gatehouse:host/backups@0.1.0/backup-error": crate::host::BackupError,
    },
    additional_derives: [PartialEq, Eq],
    additional_type_attributes: {
        "gatehouse:host/seal@0.1.0/ceremony": [#[derive(Default)]],
        "gatehouse:host/log@0.1.0/level": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "lowercase")]],
        "gatehouse:host/log@0.1.0/lines": [#[derive(Default)]],
    },
    generate_all,
});
