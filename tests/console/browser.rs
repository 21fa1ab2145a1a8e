//! A browser without scripts: it keeps one cookie, and fills in the forms that pages have.

use reqwest::header::HeaderMap;

/// A page as it came.
pub struct Shown {
    pub status: u16,
    pub text: String,
    headers: HeaderMap,
}

impl Shown {
    /// The field of that name; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }
}

/// A browser at one server.
pub struct Browser {
    /// The server that it asks; another one gets the same cookie.
    pub address: String,
    client: reqwest::blocking::Client,
    cookie: Option<String>,
}

impl Browser {
    pub fn at(address: &str) -> Self {
        let client = reqwest::blocking::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            address: address.to_owned(),
            client,
            cookie: None,
        }
    }

    pub fn signed_in(address: &str, token: &str) -> Self {
        let mut browser = Self::at(address);
        let shown = browser.submit("/ui/sign-in", &[("by", "token"), ("token", token)]);
        assert_eq!(shown.status, 303, "{}", shown.text);
        browser
    }

    pub fn get(&mut self, target: &str) -> Shown {
        let address = format!("{}{target}", self.address);
        let request = self.client.get(address).header("Accept", "text/html");
        self.send(request)
    }

    /// Fills in the form on the page at `page`, and sends it there.
    pub fn submit(&mut self, page: &str, fields: &[(&str, &str)]) -> Shown {
        let key = self.form_key(page);
        let fields = [&[("form_key", key.as_str())], fields].concat();
        self.post(page, &fields)
    }

    /// The key in the forms of the page at `page`.
    pub fn form_key(&mut self, page: &str) -> String {
        let shown = self.get(page).text;
        let (_, key) = shown
            .split_once("name=\"form_key\" value=\"")
            .unwrap_or_else(|| panic!("{page} has no form: {shown}"));
        key.split('"').next().unwrap().to_owned()
    }

    /// Sends a form as it is.
    pub fn post(&mut self, target: &str, fields: &[(&str, &str)]) -> Shown {
        let address = self.address.clone();
        let body: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        let request = self
            .client
            .post(format!("{address}{target}"))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Origin", address)
            .header("Sec-Fetch-Site", "same-origin")
            .body(body.join("&"));
        self.send(request)
    }

    fn send(&mut self, mut request: reqwest::blocking::RequestBuilder) -> Shown {
        if let Some(cookie) = &self.cookie {
            request = request.header("Cookie", cookie);
        }
        let answer = request.send().unwrap();
        let shown = Shown {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            text: answer.text().unwrap(),
        };
        let set = shown.header("set-cookie");
        if !set.is_empty() {
            self.cookie = match set.contains("Max-Age=0") {
                true => None,
                false => set.split(';').next().map(str::to_owned),
            };
        }
        shown
    }
}

fn encoded(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}
