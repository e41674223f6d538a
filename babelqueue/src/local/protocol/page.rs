//! Lists that come in pages: at most 1000 names, and a token for the rest. A
//! token is good for the list that it came from, and no other text is a token.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::output::json;
use crate::local::engine::error::{ApiResult, Kind, invalid_value};
use crate::local::hex;

/// What a client asks for.
pub(crate) struct Page {
    max: usize,
    /// Whether the client stated a number: only then a token is given.
    stated: bool,
    /// The list: the operation, and what it was asked about.
    list: String,
    pub(crate) after: String,
}

impl Page {
    /// `list` tells one list from every other, so that a token is not taken from one to the next.
    pub(crate) fn new(list: String, max: Option<i64>, token: Option<&str>) -> ApiResult<Self> {
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
            Some(token) => last_name(&list, token).ok_or_else(|| {
                Kind::InvalidParameterValue.error("Invalid or expired next token.")
            })?,
        };
        Ok(Self {
            max,
            stated,
            list,
            after,
        })
    }
}

fn token(list: &str, last: &str) -> String {
    STANDARD.encode(format!("{}:{last}", seal(list, last)))
}

fn last_name(list: &str, token: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(token).ok()?).ok()?;
    let (sealed, last) = text.split_once(':')?;
    (sealed == seal(list, last)).then(|| last.to_owned())
}

/// Nobody is kept out by it: it tells tokens from other text.
fn seal(list: &str, last: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(format!("{list}\n{last}")).into();
    hex(&digest[..16])
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
        .map(|last| token(&page.list, last));
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
