//! The way from `wasi:http/outgoing-handler` to the embedder's HTTP client.

use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;
use gatehouse_ports::{Http, HttpError, HttpRequest, HttpResponse, Method};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::limits::Limits;

type Driver = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sending = Box<dyn Future<Output = Result<(Response<WasiBody>, Driver), Error>> + Send>;

/// Sends what an instance asks for by the embedder's client, on a thread that may wait.
pub(super) struct EmbeddersHttp<H> {
    pub(super) http: Arc<H>,
    pub(super) limits: Limits,
}

impl<H: Http + Send + Sync + 'static> WasiHttpHooks for EmbeddersHttp<H> {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        _: Option<RequestOptions>,
        _: Driver,
    ) -> Sending {
        let (http, limits) = (Arc::clone(&self.http), self.limits);
        Box::new(async move {
            // The component writes the body after it has handed over the rest.
            let question = question(request, limits).await?;
            let sent = tokio::task::spawn_blocking(move || http.send(&question));
            let answer = sent
                .await
                .map_err(|_| internal("the HTTP client panicked"))?;
            let answer = response(answer.map_err(error)?)?;
            Ok((answer, Box::new(ready(Ok(()))) as Driver))
        })
    }

    /// The embedder's client writes the header itself.
    fn set_host_header(&mut self) -> bool {
        false
    }
}

async fn question(request: Request<WasiBody>, limits: Limits) -> Result<HttpRequest, Error> {
    let (parts, body) = request.into_parts();
    let method = match parts.method {
        http::Method::GET => Method::Get,
        http::Method::POST => Method::Post,
        http::Method::DELETE => Method::Delete,
        _ => return Err(Error::HttpRequestMethodInvalid),
    };
    let fields = parts.headers.iter();
    let headers = fields.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.as_str().to_owned(), value.into_owned())
    });
    Ok(HttpRequest {
        method,
        url: parts.uri.to_string(),
        headers: headers.collect(),
        body: body.collect().await?.to_bytes().to_vec(),
        timeout: limits.http_timeout,
        maximum_response_bytes: limits.http_answer_bytes,
    })
}

fn response(answer: HttpResponse) -> Result<Response<WasiBody>, Error> {
    parsed(answer).map_err(|_| internal("the HTTP client gave an invalid answer"))
}

fn parsed(answer: HttpResponse) -> Result<Response<WasiBody>, http::Error> {
    let body = Full::new(Bytes::from(answer.body));
    let mut response = Response::new(body.map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(answer.status)?;
    for (name, value) in answer.headers {
        let (name, value) = (HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
        // More fields than a map takes are an error and no panic.
        response.headers_mut().try_append(name, value)?;
    }
    Ok(response)
}

fn internal(why: &str) -> Error {
    Error::InternalError(Some(why.to_owned()))
}

fn error(from: HttpError) -> Error {
    match from {
        HttpError::Denied => Error::HttpRequestDenied,
        HttpError::InvalidUrl => Error::HttpRequestUriInvalid,
        HttpError::Failed(why) => Error::InternalError(Some(why)),
        HttpError::TimedOut => Error::HttpResponseTimeout,
        HttpError::TooLarge => Error::HttpResponseBodySize(None),
    }
}
