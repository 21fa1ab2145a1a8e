//! The handler of WASI 0.3. As in the front, a request is alone in its instance until it is answered: a statement blocks the whole instance.

use spin_sdk::wasip3::exports::http::handler::Guest;
use spin_sdk::wasip3::http::service;
use spin_sdk::wasip3::http::types::{ErrorCode, Fields, Request, Response};
use spin_sdk::wasip3::http_compat::BodyWriter;
use spin_sdk::wasip3::spawn;
use spin_sdk::wit_bindgen::{backpressure_dec, backpressure_inc};

use crate::database;
use crate::{HELLO, PREPARE, READ, WRITE};

struct Component;

service::export!(Component);

impl Guest for Component {
    async fn handle(request: Request) -> Result<Response, ErrorCode> {
        backpressure_inc();
        let path = request.get_path_with_query().unwrap_or_default();
        let (status, text) = answer(&path);
        let length = text.len().to_string().into_bytes();
        let headers = Fields::from_list(&[("content-length".to_owned(), length)]);
        let headers = headers.unwrap_or_else(|_| Fields::new());
        let (mut writer, body, end) = BodyWriter::new();
        let (response, _) = Response::new(headers, Some(body), end);
        let _ = response.set_status_code(status);
        spawn(async move {
            writer.stream_writer.write_all(text.into_bytes()).await;
            drop(writer.stream_writer);
            let _ = writer.result_writer.write(Ok(None)).await;
            backpressure_dec();
        });
        Ok(response)
    }
}

fn answer(path: &str) -> (u16, String) {
    let outcome = match path {
        HELLO => Ok("hello".to_owned()),
        READ => database::read(),
        WRITE => database::write(),
        PREPARE => database::prepare(),
        _ => return (404, "nothing is here".to_owned()),
    };
    match outcome {
        Ok(text) => (200, text),
        Err(error) => (500, error.to_string()),
    }
}
