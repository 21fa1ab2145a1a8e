//! The addresses to which other pages lead.

/// The address of the auth mounts.
pub(super) const MOUNTS: &str = "/ui/mounts";
/// The address where organizations are listed and created.
pub(super) const ORGANIZATIONS: &str = "/ui/organizations";
/// The address of the site administration.
pub(super) const SITE: &str = "/ui/site";
/// The address where visitors sign in.
pub(super) const SIGN_IN: &str = "/ui/sign-in";
/// The address where visitors sign out.
pub(super) const SIGN_OUT: &str = "/ui/sign-out";
