//! `auth/token/tidy`, and `sys/leases/tidy`, whose leases are the tokens': clears away what no token leads to (contract 5.4).

use gatehouse_access_api::Access;

use crate::vault::call::Answer;
use crate::vault::envelope::Reply;

/// Answers a request to tidy.
pub(in crate::vault) fn handle(access: &impl Access) -> Answer {
    let reply = if access.tidy_tokens()? {
        let started = "Tidy operation successfully started. What one request cannot do goes on in the background.";
        Reply::accepted().warned([started.to_owned()])
    } else {
        Reply::empty().warned(["Tidy operation already in progress.".to_owned()])
    };
    Ok(Some(reply))
}
