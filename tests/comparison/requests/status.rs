//! Paths that answer without a token and without an envelope (contract 6.2).

use crate::step::{Step, delete, get, post, put, send};

pub fn requests() -> Vec<Step> {
    vec![
        get("sys/health").by_nobody(),
        get("sys/health?standbyok=true&activecode=204").by_nobody(),
        get("sys/health?activecode=299&nonsense=1").by_nobody(),
        get("sys/health?activecode=x").by_nobody(),
        get("sys/health?drsecondarycode=299&haunhealhty=299&performancestandbycode=299&removedcode=299&sealedcode=299&standbycode=299&uninitcode=299").by_nobody(),
        send("HEAD", "sys/health", "").by_nobody(),
        send("HEAD", "sys/health?activecode=418", "").by_nobody(),
        post("sys/health", "{}").by_nobody(),
        delete("sys/health").by_nobody(),
        get("sys/seal-status").by_nobody(),
        get("sys/seal-status"),
        get("sys/leader").by_nobody(),
        post("sys/leader", "{}").by_nobody(),
        get("sys/init").by_nobody(),
        put("sys/init", r#"{"secret_shares":1,"secret_threshold":1}"#).by_nobody(),
        post("sys/init", r#"{"secret_shares":5,"secret_threshold":3}"#).by_nobody(),
        put("sys/init", "{").by_nobody(),
        delete("sys/init").by_nobody(),
    ]
}
