//! The addresses of pages that others lead to.

/// Where the auth mounts are.
pub(super) const MOUNTS: &str = "/ui/mounts";
/// Where organizations are listed and made.
pub(super) const ORGANIZATIONS: &str = "/ui/organizations";
/// The site administration.
pub(super) const SITE: &str = "/ui/site";
/// Where visitors sign in.
pub(super) const SIGN_IN: &str = "/ui/sign-in";
/// Where they sign out.
pub(super) const SIGN_OUT: &str = "/ui/sign-out";
