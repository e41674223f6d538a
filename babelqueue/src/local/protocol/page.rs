//! Lists that come in pages: at most 1000 names, and a token for the rest.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::output::json;
use crate::local::engine::error::{ApiResult, Kind, invalid_value};

/// What a client asks for.
pub(crate) struct Page {
    max: usize,
    /// Whether the client stated a number: only then a token is given.
    stated: bool,
    pub(crate) after: String,
}

impl Page {
    pub(crate) fn new(max: Option<i64>, token: Option<String>) -> ApiResult<Self> {
        let stated = max.is_some();
        let max = match max {
            None => 1000,
            Some(max @ 1..=1000) => usize::try_from(max).unwrap_or(1000),
            Some(max) => {
                return Err(invalid_value(
                    "MaxResults",
                    max,
                    "Must be between 1 and 1000.",
                ));
            }
        };
        let after = match token {
            None => String::new(),
            Some(token) => STANDARD
                .decode(token)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .ok_or_else(|| {
                    Kind::InvalidParameterValue.error("Invalid or expired next token.")
                })?,
        };
        Ok(Self { max, stated, after })
    }
}

/// The names of a page and the token for the next.
pub(crate) struct Found {
    names: Vec<String>,
    token: Option<String>,
}

pub(crate) fn page<'a>(names: impl Iterator<Item = &'a str>, page: &Page) -> Found {
    let mut names: Vec<String> = names.take(page.max + 1).map(str::to_owned).collect();
    let more = names.len() > page.max;
    names.truncate(page.max);
    let token = names
        .last()
        .filter(|_| more && page.stated)
        .map(|last| STANDARD.encode(last));
    Found { names, token }
}

impl Found {
    pub(crate) fn json(&self, field: &str, url: impl Fn(&str) -> String) -> Vec<u8> {
        let urls: Vec<_> = self.names.iter().map(|name| url(name)).collect();
        let mut answer = serde_json::Map::new();
        if !urls.is_empty() || field == "queueUrls" {
            answer.insert(field.to_owned(), urls.into());
        }
        if let Some(token) = &self.token {
            answer.insert("NextToken".to_owned(), token.clone().into());
        }
        json(&answer)
    }
}
