//! Routing of a request to an API; what it asks for there is that API's own matter.

use std::borrow::Cow;

use http::Method;
use percent_encoding::percent_decode_str;

use crate::compute::ComputeRequest;
use crate::endpoint::Endpoint;
use crate::iam::IamRequest;
use crate::key_documents::KeyDocumentRequest;
use crate::metadata::MetadataRequest;
use crate::resource_manager::ResourceManagerRequest;

/// The API that a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    KeyDocument(KeyDocumentRequest<'a>),
    Token,
    SecurityToken,
    Iam(IamRequest<'a>),
    Compute(ComputeRequest<'a>),
    ResourceManager(ResourceManagerRequest<'a>),
    Metadata(MetadataRequest<'a>),
    Unknown,
}

impl<'a> Route<'a> {
    /// Finds what `method` on `path` (without its query) asks for.
    pub(crate) fn parse(method: &Method, path: &'a str) -> Self {
        let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
        let found = match segments.as_slice() {
            ["token"] if method == Method::POST => Some(Self::Token),
            ["v1", "token"] if method == Method::POST => Some(Self::SecurityToken),
            ["oauth2", ..] | ["service_accounts", ..] => {
                KeyDocumentRequest::parse(method, &segments).map(Self::KeyDocument)
            }
            ["v1", "projects", project, "serviceAccounts", rest @ ..] => {
                IamRequest::parse(method, project, rest).map(Self::Iam)
            }
            ["v1", "projects", project] => {
                ResourceManagerRequest::parse(method, project).map(Self::ResourceManager)
            }
            ["compute", "v1", "projects", project, rest @ ..] => {
                ComputeRequest::parse(method, project, rest).map(Self::Compute)
            }
            [""] => MetadataRequest::parse(method, &[]).map(Self::Metadata),
            ["computeMetadata", "v1", rest @ ..] => {
                MetadataRequest::parse(method, rest).map(Self::Metadata)
            }
            _ => None,
        };
        found.unwrap_or(Self::Unknown)
    }

    /// The kind of request, by which calls are counted and faults are set.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self {
            Self::KeyDocument(request) => request.endpoint(),
            Self::Token => Endpoint::Token,
            Self::SecurityToken => Endpoint::SecurityTokenService,
            Self::Iam(request) => request.endpoint(),
            Self::Compute(request) => request.endpoint(),
            Self::ResourceManager(request) => request.endpoint(),
            Self::Metadata(request) => request.endpoint(),
            Self::Unknown => Endpoint::Unknown,
        }
    }

    /// The same request for another account; requests that name no account stay as they are.
    pub(crate) fn for_account(self, other: &'a str) -> Self {
        match self {
            Self::KeyDocument(request) => Self::KeyDocument(request.for_account(other)),
            Self::Iam(request) => Self::Iam(request.for_account(other)),
            accountless => accountless,
        }
    }
}

/// A path segment without its percent-encoding; one that is not UTF-8 names nothing, so any replacement will do.
pub(crate) fn decode(segment: &str) -> Cow<'_, str> {
    percent_decode_str(segment).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_found_by_method_and_whole_path() {
        let compute = "/compute/v1/projects/p";
        let account = "/v1/projects/-/serviceAccounts/a";
        let metadata = "/computeMetadata/v1/instance/service-accounts/default";
        let get = [
            ("/oauth2/v1/certs".to_owned(), Endpoint::GoogleCertificates),
            ("/oauth2/v3/certs".to_owned(), Endpoint::GoogleKeySet),
            ("/oauth2/v1/certs/more".to_owned(), Endpoint::Unknown),
            ("/token".to_owned(), Endpoint::Unknown),
            (account.to_owned(), Endpoint::ServiceAccount),
            (format!("{account}/keys"), Endpoint::Unknown),
            (format!("{compute}/zones/z/instances/n"), Endpoint::Instance),
            (
                format!("{compute}/zones/z/instances/n/more"),
                Endpoint::Unknown,
            ),
            (
                format!("{compute}/aggregated/instanceGroups"),
                Endpoint::InstanceGroups,
            ),
            ("/".to_owned(), Endpoint::MetadataProbe),
            ("/computeMetadata/v1/".to_owned(), Endpoint::MetadataProbe),
            (format!("{metadata}/token"), Endpoint::MetadataToken),
            (format!("{metadata}/identity"), Endpoint::MetadataIdentity),
        ];
        for (path, endpoint) in get {
            assert_eq!(
                Route::parse(&Method::GET, &path).endpoint(),
                endpoint,
                "GET {path}"
            );
        }

        let post = [
            ("/token".to_owned(), Endpoint::Token),
            ("/v1/token".to_owned(), Endpoint::SecurityTokenService),
            ("/oauth2/v1/certs".to_owned(), Endpoint::Unknown),
            (account.to_owned(), Endpoint::Unknown),
            (format!("{account}/keys"), Endpoint::CreateKey),
            (
                format!("{account}:generateAccessToken"),
                Endpoint::GenerateAccessToken,
            ),
            (format!("{account}:signJwt"), Endpoint::SignJwt),
            (format!("{account}:signBlob"), Endpoint::Unknown),
            (
                format!("{compute}/zones/z/instanceGroups/g/listInstances"),
                Endpoint::ZonalGroupMembers,
            ),
            (
                format!("{compute}/regions/r/instanceGroups/g/listInstances"),
                Endpoint::RegionalGroupMembers,
            ),
            ("/v1/projects/p:getAncestry".to_owned(), Endpoint::Ancestry),
            (
                "/v1/projects/p:testIamPermissions".to_owned(),
                Endpoint::TestPermissions,
            ),
            ("/v1/projects/p:getIamPolicy".to_owned(), Endpoint::Unknown),
        ];
        for (path, endpoint) in post {
            assert_eq!(
                Route::parse(&Method::POST, &path).endpoint(),
                endpoint,
                "POST {path}"
            );
        }
        assert_eq!(
            Route::parse(&Method::DELETE, &format!("{account}/keys/k")).endpoint(),
            Endpoint::DeleteKey
        );
    }

    #[test]
    fn account_segments_are_percent_decoded() {
        let encoded = Route::parse(&Method::GET, "/v1/projects/-/serviceAccounts/a%40b");
        assert_eq!(
            encoded,
            Route::parse(&Method::GET, "/v1/projects/-/serviceAccounts/a@b")
        );
        assert_eq!(
            Route::parse(
                &Method::POST,
                "/v1/projects/-/serviceAccounts/a%40b%3AsignJwt"
            )
            .endpoint(),
            Endpoint::SignJwt
        );
    }
}
