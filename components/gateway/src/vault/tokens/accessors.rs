//! `accessors`: what there is to look up, renew or revoke without knowing a token (contract 5.4).

use gatehouse_access_api::Access;

use crate::vault::call::{Answer, Call};
use crate::vault::paging::Paging;

/// Answers a list of `accessors`.
pub(super) fn list(access: &dyn Access, call: &Call<'_>) -> Answer {
    let paging = Paging::of(call)?;
    let page = access.list_accessors(paging.after.as_deref(), paging.limit)?;
    paging.reply(&page)
}
