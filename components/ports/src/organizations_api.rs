//! The values that both sides of the organizations API know: the server, and its clients, which are the console and the commands.

/// The media type of its documents.
pub const MEDIA_TYPE: &str = "application/vnd.api+json";

/// Part of every token of the API, and of no token of the server.
pub const TOKEN_MARK: &str = ".atlasv1.";
