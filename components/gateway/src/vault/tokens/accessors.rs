//! `accessors`: what there is to look up, renew or revoke without knowing a token (contract 5.4).

use crate::vault::call::{Answer, Call};
use crate::vault::paging::Paging;

/// LIST `accessors`
pub(in crate::vault) fn list(call: &Call<'_>) -> Answer {
    let paging = Paging::from_query(call)?;
    let page = call
        .server
        .access
        .list_accessors(paging.after.as_deref(), paging.limit)?;
    paging.reply(&page)
}
