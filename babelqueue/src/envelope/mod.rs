//! Placeholder until the codec lands.
#![allow(missing_docs)]
use std::borrow::Cow;
#[derive(Clone, Debug)]
pub struct Envelope {
    meta: Meta,
    body: String,
}
#[derive(Clone, Debug)]
pub struct Meta {}
impl Meta {
    pub fn id(&self) -> &str {
        ""
    }
}
impl Envelope {
    pub fn urn(&self) -> &str {
        ""
    }
    pub fn trace_id(&self) -> Option<&str> {
        None
    }
    pub fn meta(&self) -> &Meta {
        &self.meta
    }
    pub fn data_json(&self) -> Option<&str> {
        Some(&self.body)
    }
}
#[derive(Clone, Debug, Default)]
pub struct Headers {}
impl Headers {
    pub fn get(&self, _: &str) -> Option<&str> {
        None
    }
    pub fn is_replay(&self) -> bool {
        false
    }
}
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MakeError(Cow<'static, str>);
pub fn data_to_json(_: &(impl serde::Serialize + ?Sized)) -> Result<String, MakeError> {
    Ok(String::new())
}
pub fn meta_to_json(_: &str, _: &(impl serde::Serialize + ?Sized)) -> Result<String, MakeError> {
    Ok(String::new())
}
