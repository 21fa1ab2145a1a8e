//! One question to Google: time limits, retries, and which answers count as an outage (contract 8.1; SEC-N5, N6, N10).

use std::time::Duration;

use gatehouse_ports::rules::jittered;
use gatehouse_ports::{Clock, Http, HttpError, HttpRequest, HttpResponse, Method, Random};
use url::Url;
use zeroize::Zeroize;

use super::call_error::CallError;
use super::client::Google;
use super::deadline::Deadline;
use super::endpoints::Api;

/// For one question, with its retries, unless it says otherwise.
const CALL_LIMIT: Duration = Duration::from_secs(10);
/// Tries after the first.
const MAXIMUM_RETRIES: u32 = 2;
/// The pause before the first retry is up to this long, and up to twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// A `retry-after` beyond this is not waited for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(5);
/// Longest answer, in bytes.
const MAXIMUM_ANSWER_BYTES: usize = 1024 * 1024;

/// A question to an API.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) api: Api,
    pub(super) method: Method,
    /// `None` when the server does not allow the API's configured base.
    pub(super) url: Option<Url>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Longest answer, in bytes.
    pub(super) maximum_answer: usize,
    /// True if asking twice does what asking once does.
    pub(super) repeatable: bool,
    /// For this question, with its retries.
    pub(super) limit: Duration,
}

impl Question {
    /// A read.
    pub(super) const fn get(api: Api, url: Option<Url>) -> Self {
        Self {
            api,
            method: Method::Get,
            url,
            headers: Vec::new(),
            body: Vec::new(),
            maximum_answer: MAXIMUM_ANSWER_BYTES,
            repeatable: true,
            limit: CALL_LIMIT,
        }
    }

    /// A question with a body of this media type. It may be repeated; see [`Self::once`].
    pub(super) fn post(api: Api, url: Option<Url>, media_type: &str, body: Vec<u8>) -> Self {
        Self {
            method: Method::Post,
            headers: vec![("content-type".to_owned(), media_type.to_owned())],
            body,
            ..Self::get(api, url)
        }
    }

    /// A question to a token endpoint.
    pub(super) fn form(api: Api, url: Option<Url>, form: String) -> Self {
        let media_type = "application/x-www-form-urlencoded";
        Self::post(api, url, media_type, form.into_bytes())
    }

    /// The removal of what `url` names.
    pub(super) fn delete(api: Api, url: Option<Url>) -> Self {
        Self {
            method: Method::Delete,
            ..Self::get(api, url)
        }
    }

    /// The same, with another header.
    pub(super) fn with_header(mut self, name: &str, value: String) -> Self {
        self.headers.push((name.to_owned(), value));
        self
    }

    /// The same, with less time.
    pub(super) fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// The same, but never asked again when its answer got lost.
    pub(super) fn once(self) -> Self {
        Self {
            repeatable: false,
            ..self
        }
    }

    /// The same, with a longer answer allowed.
    pub(super) fn with_maximum_answer(self, bytes: usize) -> Self {
        Self {
            maximum_answer: bytes,
            ..self
        }
    }
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// Asks, up to three times while Google cannot be reached or says that it is overloaded, if the question may be repeated and the
    /// budget for retries allows it.
    pub(super) fn ask(&self, question: Question) -> Result<HttpResponse, CallError> {
        let api = question.api;
        let url = question.url.ok_or(CallError::Denied(api))?;
        let retries = if question.repeatable {
            MAXIMUM_RETRIES
        } else {
            0
        };
        let mut headers = question.headers;
        headers.push(("user-agent".to_owned(), self.settings.user_agent.clone()));
        headers.push(("accept".to_owned(), "application/json".to_owned()));
        let mut request = HttpRequest {
            method: question.method,
            url: url.into(),
            headers,
            body: question.body,
            timeout: question.limit,
            maximum_response_bytes: question.maximum_answer,
        };
        let answer = self.exchange(api, &mut request, retries);
        // A header or the body may be a token, an assertion or a secret.
        request.body.zeroize();
        for (_, value) in &mut request.headers {
            value.zeroize();
        }
        answer
    }

    fn exchange(
        &self,
        api: Api,
        request: &mut HttpRequest,
        retries: u32,
    ) -> Result<HttpResponse, CallError> {
        let call_deadline = Deadline::after(self.clock, request.timeout);
        let time_left = || {
            let login = self.deadline.time_left(self.clock)?;
            Some(login.min(call_deadline.time_left(self.clock)?))
        };
        self.retries.earn();
        for retry in 0..=retries {
            let Some(timeout) = time_left() else { break };
            request.timeout = timeout;
            let retry_after = match self.http.send(request) {
                Ok(answer) if (300..400).contains(&answer.status) => {
                    return Err(CallError::Unusable(api));
                }
                Ok(answer) if !is_outage(answer.status) => return Ok(answer),
                Ok(answer) => retry_after(&answer),
                Err(HttpError::Denied | HttpError::InvalidUrl) => {
                    return Err(CallError::Denied(api));
                }
                Err(HttpError::TooLarge) => return Err(CallError::Unusable(api)),
                Err(HttpError::Failed(_) | HttpError::TimedOut) => None,
            };
            let pause =
                retry_after.unwrap_or_else(|| jittered(FIRST_PAUSE * (1 << retry), self.random));
            let worthwhile = time_left().is_some_and(|left| pause < left);
            let allowed = retry < retries && pause <= LONGEST_RETRY_AFTER && worthwhile;
            if !allowed || !self.retries.spend() {
                break;
            }
            self.clock.sleep(pause);
        }
        Err(CallError::Unavailable(api))
    }
}

const fn is_outage(status: u16) -> bool {
    status == 429 || status >= 500
}

fn retry_after(answer: &HttpResponse) -> Option<Duration> {
    let seconds = answer.header("retry-after")?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
