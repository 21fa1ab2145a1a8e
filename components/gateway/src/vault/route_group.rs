//! Groups of routes: tables of routes with their root paths, as documents write them.

use std::fmt::{self, Display, Formatter};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::route::Route;

/// The characters that stay unescaped in a path. Braces are escaped, since they would look like a name.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'/')
    .remove(b'_')
    .remove(b'~');

/// The name of the parameter for a mount's path, in documents without a certain mount.
pub(in crate::vault) const MOUNT_PATH: &str = "gcp_mount_path";

/// Tables of routes, and their root path.
pub(in crate::vault) struct RouteGroup<'a> {
    pub(in crate::vault) root: Root<'a>,
    pub(in crate::vault) tag: &'static str,
    pub(in crate::vault) routes: &'a [&'a [Route]],
}

impl<'a> RouteGroup<'a> {
    /// The routes that are shown.
    pub(in crate::vault) fn described(&self) -> impl Iterator<Item = &'a Route> + use<'a> {
        let routes = self.routes.iter().copied().flatten();
        routes.filter(|route| route.is_described)
    }
}

/// The root of the paths of some routes.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) enum Root<'a> {
    /// A fixed path.
    Fixed(&'static str),
    /// `auth/` and the path of a mount, which ends in one slash.
    Mount(&'a str),
    /// `auth/` and the path of any mount.
    AnyMount,
}

impl Display for Root<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(root) => formatter.write_str(root),
            Self::Mount(path) => write!(formatter, "auth/{}", utf8_percent_encode(path, ESCAPED)),
            Self::AnyMount => write!(formatter, "auth/{{{MOUNT_PATH}}}/"),
        }
    }
}
