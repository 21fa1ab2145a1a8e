//! What both sides of the organizations API know of it: the server, and the console and the commands, which are its clients.

/// The media type of its documents.
pub const MEDIA_TYPE: &str = "application/vnd.api+json";

/// Stands in every token of the API, and in no token of the server.
pub const TOKEN_MARK: &str = ".atlasv1.";
