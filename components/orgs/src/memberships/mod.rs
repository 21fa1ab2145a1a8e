//! The members of organizations, and their invitations (contract 4.11).

mod acceptance;
mod invitation;
mod reading;
mod store;

pub(crate) use acceptance::end_invitation_of_sweep;
