//! The kinds of request, by which calls are counted and faults are set.

/// One kind of request that Google is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// Google's own keys as X.509 certificates.
    GoogleCertificates,
    /// Google's own keys as a JWK set.
    GoogleKeySet,
    /// A service account's keys as X.509 certificates.
    AccountCertificates,
    /// A service account's keys as a JWK set.
    AccountKeySet,
    /// The OAuth 2.0 token endpoint.
    Token,
    /// A service account's record in IAM.
    ServiceAccount,
    /// Making a key for a service account.
    CreateKey,
    /// Deleting a key of a service account.
    DeleteKey,
    /// An access token of a service account for a caller who may impersonate it.
    GenerateAccessToken,
    /// A JWT signed by a service account for a caller who may impersonate it.
    SignJwt,
    /// The Security Token Service, which takes the tokens of other issuers.
    SecurityTokenService,
    /// A compute instance.
    Instance,
    /// All instance groups of a project, zonal and regional.
    InstanceGroups,
    /// The instances of a zonal group.
    ZonalGroupMembers,
    /// The instances of a regional group.
    RegionalGroupMembers,
    /// The folders and the organization above a project.
    Ancestry,
    /// Which of some permissions on a project the caller holds.
    TestPermissions,
    /// The metadata server's root, by which clients find out that there is one.
    MetadataProbe,
    /// An access token from the metadata server.
    MetadataToken,
    /// An identity token from the metadata server.
    MetadataIdentity,
    /// Anything else, answered with 404.
    Unknown,
}
