//! `auth/token/tidy`, and `sys/leases/tidy`, whose leases are the tokens': has what no token leads to cleared away (contract 5.4).

use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;

/// `tidy`
pub(in crate::vault) fn tidy(call: &Call<'_>) -> Answer {
    let reply = if call.server.access.tidy_tokens()? {
        // Nothing is deleted here: only background work is held back while the server's clock is in doubt (SEC-T6).
        let started = "Tidy operation successfully started. It is done in the background, while the server's clock is not in doubt.";
        Reply::accepted().warned([started.to_owned()])
    } else {
        Reply::empty().warned(["Tidy operation already in progress.".to_owned()])
    };
    Ok(Some(reply))
}
