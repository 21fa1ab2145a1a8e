//! The call of an instance with a request.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use gatehouse_ports::console_paths::is_for_console;
use http::header::{ACCEPT, HeaderMap};
use http::{HeaderName, HeaderValue, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use tokio::sync::oneshot;
use tracing::Instrument as _;
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, Func, InstancePre};
use wasmtime_wasi_http::WasiHttpView;
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Scheme};
use wasmtime_wasi_http::p2::bindings::{Proxy, ProxyPre};
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;

use super::exchange::{BodyPart, BodyRest, Peer, ResumeError, ServeError};
use super::state::InstanceState;
use crate::listener::{RequestId, Route};
use crate::traces;
use bindings::exports::gatehouse::gateway::exchange as wit;
use bindings::{Whole, WholePre};

/// The interface of the API.
const EXCHANGE: &str = "gatehouse:gateway/exchange@0.1.0";

/// The interface of the console.
const PAGES: &str = "gatehouse:console/pages@0.1.0";

/// Where a component that is called by `wasi:http/incoming-handler` finds the address of the peer.
const PEER_HEADER: HeaderName = HeaderName::from_static("x-gatehouse-peer");

/// Bytes of answer body beyond which a request counts as failed.
const MAXIMUM_ANSWER_BYTES: usize = 64 * 1024 * 1024;

mod bindings {
    wasmtime::component::bindgen!({
        inline: "
            package gatehouse:fronts;
            world whole {
                export gatehouse:gateway/exchange@0.1.0;
            }
        ",
        path: [
            "../wit/deps/io",
            "../wit/deps/clocks",
            "../wit/deps/random",
            "../wit/deps/filesystem",
            "../wit/deps/sockets",
            "../wit/deps/cli",
            "../wit/deps/http",
            "../wit/network",
            "../wit/storage",
            "../wit/auth-method",
            "../wit/access",
            "../wit/orgs",
            "../wit/host",
            "../wit/gateway",
        ],
        world: "gatehouse:fronts/whole",
        with: { "gatehouse:network/addresses": crate::runtime::addresses::wit },
        exports: { default: async },
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

/// A component that answers requests, by one of two exports.
pub(super) enum FrontTemplate {
    /// `gatehouse:gateway/exchange`: one call with the whole request. Preferred, since requests are held whole here.
    Whole {
        template: WholePre<InstanceState>,
        /// `gatehouse:console/pages`, where those are served.
        pages: Option<ComponentExportIndex>,
    },
    /// `wasi:http/incoming-handler`.
    Streams(ProxyPre<InstanceState>),
}

impl FrontTemplate {
    /// The front of the component behind `template`.
    ///
    /// # Errors
    ///
    /// When it has neither export.
    pub(super) fn find(template: InstancePre<InstanceState>) -> wasmtime::Result<Self> {
        match WholePre::new(template.clone()) {
            Ok(template) => Ok(Self::Whole {
                template,
                pages: None,
            }),
            Err(_) => Self::streams(template),
        }
    }

    /// The same, with the console's pages.
    ///
    /// # Errors
    ///
    /// When it does not export both.
    pub(super) fn with_console(template: InstancePre<InstanceState>) -> wasmtime::Result<Self> {
        let handle = template
            .component()
            .get_export_index(None, PAGES)
            .and_then(|pages| {
                template
                    .component()
                    .get_export_index(Some(&pages), "handle")
            });
        let handle =
            handle.ok_or_else(|| wasmtime::Error::msg(format!("it does not export {PAGES}")))?;
        Ok(Self::Whole {
            template: WholePre::new(template)?,
            pages: Some(handle),
        })
    }

    /// The front that every host knows.
    ///
    /// # Errors
    ///
    /// When the component does not have that export.
    pub(super) fn streams(template: InstancePre<InstanceState>) -> wasmtime::Result<Self> {
        Ok(Self::Streams(ProxyPre::new(template)?))
    }

    /// A fresh instance in `store`.
    pub(super) async fn instantiate(
        &self,
        store: &mut Store<InstanceState>,
    ) -> wasmtime::Result<Front> {
        Ok(match self {
            Self::Whole { template, pages } => {
                let instance = template
                    .instance_pre()
                    .instantiate_async(&mut *store)
                    .await?;
                let pages = pages.as_ref().map(|pages| {
                    instance
                        .get_func(&mut *store, pages)
                        .ok_or_else(|| wasmtime::Error::msg(format!("{PAGES} is no function")))
                });
                Front::Whole {
                    exports: Whole::new(&mut *store, &instance)?,
                    pages: pages.transpose()?,
                }
            }
            Self::Streams(template) => Front::Streams(template.instantiate_async(store).await?),
        })
    }
}

/// An instance of a [`FrontTemplate`].
pub(super) enum Front {
    /// See [`FrontTemplate::Whole`].
    Whole { exports: Whole, pages: Option<Func> },
    /// See [`FrontTemplate::Streams`].
    Streams(Proxy),
}

impl Front {
    /// Has the instance answer `request`.
    ///
    /// # Errors
    ///
    /// When it traps, gives no answer, or gives one that is none.
    pub(super) async fn answer(
        &self,
        store: &mut Store<InstanceState>,
        request: &http::Request<Bytes>,
    ) -> Result<http::Response<BodyPart>, ServeError> {
        match self {
            Self::Whole {
                pages: Some(pages), ..
            } if is_visit(request) => page(*pages, store, request).await,
            Self::Whole { exports, .. } => exchange(exports, store, request).await,
            Self::Streams(proxy) => {
                let answer = stream(proxy, store, request.clone()).await?;
                Ok(answer.map(BodyPart::last))
            }
        }
    }

    /// Has the instance go on with the answer to `request`.
    ///
    /// # Errors
    ///
    /// As [`Self::answer`]; and when the answer does not go on.
    pub(super) async fn resume(
        &self,
        store: &mut Store<InstanceState>,
        request: &http::Request<Bytes>,
        continuation: &[u8],
    ) -> Result<BodyPart, ServeError> {
        let Self::Whole { exports: whole, .. } = self else {
            return Err(ServeError::NotResumed(ResumeError::Foreign));
        };
        let headers = headers(request);
        let exchange = whole.gatehouse_gateway_exchange();
        let resumed = exchange.call_resume(store, received(request, &headers), continuation);
        let span = traces::component_call(EXCHANGE, "resume");
        match resumed.instrument(span).await? {
            Ok(part) => Ok(BodyPart {
                bytes: part.body.into(),
                rest: part.rest.map(Into::into),
            }),
            Err(error) => Err(ServeError::NotResumed(error.into())),
        }
    }
}

async fn exchange(
    whole: &Whole,
    store: &mut Store<InstanceState>,
    request: &http::Request<Bytes>,
) -> Result<http::Response<BodyPart>, ServeError> {
    let headers = headers(request);
    let exchange = whole.gatehouse_gateway_exchange();
    let answer = exchange.call_handle(store, received(request, &headers));
    let span = traces::component_call(EXCHANGE, "handle");
    response(answer.instrument(span).await?)
        .map_err(|error| ServeError::Failed(wasmtime::Error::new(error)))
}

async fn page(
    pages: Func,
    store: &mut Store<InstanceState>,
    request: &http::Request<Bytes>,
) -> Result<http::Response<BodyPart>, ServeError> {
    let headers = headers(request);
    let handle = pages.typed::<(wit::Request<'_>,), (wit::Response,)>(&mut *store)?;
    let (answer,) = handle
        .call_async(&mut *store, (received(request, &headers),))
        .instrument(traces::component_call(PAGES, "handle"))
        .await?;
    response(answer).map_err(|error| ServeError::Failed(wasmtime::Error::new(error)))
}

impl From<wit::Rest> for BodyRest {
    fn from(rest: wit::Rest) -> Self {
        Self {
            continuation: rest.continuation,
            wait: Duration::from_millis(rest.wait.into()),
        }
    }
}

impl From<wit::ResumeError> for ResumeError {
    fn from(error: wit::ResumeError) -> Self {
        match error {
            wit::ResumeError::Foreign => Self::Foreign,
            wit::ResumeError::Refused => Self::Refused,
            wit::ResumeError::Failed => Self::Failed,
        }
    }
}

fn headers(request: &http::Request<Bytes>) -> Vec<(&str, &[u8])> {
    let fields = request.headers().iter();
    fields
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect()
}

fn received<'a>(
    request: &'a http::Request<Bytes>,
    headers: &'a [(&'a str, &'a [u8])],
) -> wit::Request<'a> {
    let uri = request.uri();
    wit::Request {
        id: request
            .extensions()
            .get::<RequestId>()
            .map(RequestId::as_str),
        method: request.method().as_str(),
        peer: peer(request).map(Into::into),
        target: uri.path_and_query().map_or("", |target| target.as_str()),
        is_https: is_https(uri),
        authority: uri.authority().map(|authority| authority.as_str()),
        headers,
        body: request.body(),
    }
}

fn is_visit(request: &http::Request<Bytes>) -> bool {
    let accept = request.headers().get_all(ACCEPT).iter();
    is_for_console(request.uri().path(), accept.map(HeaderValue::as_bytes))
}

fn is_https(uri: &http::Uri) -> bool {
    uri.scheme() == Some(&http::uri::Scheme::HTTPS)
}

fn response(answer: wit::Response) -> Result<http::Response<BodyPart>, http::Error> {
    // More fields than a map takes are an error and no panic.
    let mut headers = HeaderMap::try_with_capacity(answer.headers.len())?;
    for (name, value) in answer.headers {
        headers.try_append(HeaderName::try_from(name)?, HeaderValue::try_from(value)?)?;
    }
    let mut response = http::Response::new(BodyPart {
        bytes: answer.body.into(),
        rest: answer.rest.map(Into::into),
    });
    *response.status_mut() = StatusCode::from_u16(answer.status)?;
    *response.headers_mut() = headers;
    if let Some(route) = answer.route {
        response.extensions_mut().insert(Route(route));
    }
    Ok(response)
}

fn peer(request: &http::Request<Bytes>) -> Option<IpAddr> {
    let peer = request.extensions().get::<Peer>();
    peer.map(|Peer(address)| *address)
}

async fn stream(
    proxy: &Proxy,
    store: &mut Store<InstanceState>,
    mut request: http::Request<Bytes>,
) -> Result<http::Response<Bytes>, ServeError> {
    // Every field of the name goes, the client's too.
    request.headers_mut().remove(PEER_HEADER);
    if let Some(peer) = peer(&request)
        && let Ok(peer) = HeaderValue::try_from(peer.to_string())
    {
        request.headers_mut().insert(PEER_HEADER, peer);
    }
    let mut http = store.data_mut().http();
    let scheme = match is_https(request.uri()) {
        true => Scheme::Https,
        false => Scheme::Http,
    };
    let request = http.new_incoming_request(scheme, request.map(Full::new))?;
    let (sender, receiver) = oneshot::channel();
    let answer = http.new_response_outparam(sender)?;
    let handler = proxy.wasi_http_incoming_handler();
    let handled = async {
        let called = handler.call_handle(store, request, answer);
        let span = traces::component_call("wasi:http/incoming-handler", "handle");
        called.instrument(span).await.map_err(ServeError::from)
    };
    // The guest writes the body while this side takes it: neither can finish without the other.
    let ((), response) = tokio::try_join!(handled, collect(receiver))?;
    Ok(response)
}

type StreamedAnswer = Result<hyper::Response<HyperOutgoingBody>, ErrorCode>;

async fn collect(
    receiver: oneshot::Receiver<StreamedAnswer>,
) -> Result<http::Response<Bytes>, ServeError> {
    let failed = |why: &'static str| ServeError::Failed(wasmtime::Error::msg(why));
    let response = receiver
        .await
        .map_err(|_| failed("it gave no answer"))?
        .map_err(|_| failed("it answered with an error code"))?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, MAXIMUM_ANSWER_BYTES)
        .collect()
        .await
        .map_err(|_| failed("its answer was cut off or too large"))?;
    Ok(http::Response::from_parts(parts, body.to_bytes()))
}
