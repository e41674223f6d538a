//! What is known of a decoded body: values, and the places of those that stay in the text.

use super::identity::Source;
use super::json::Span;
use super::text::Text;
use super::warning::Warning;

/// What is known of a body. The spans belong to the body of the same envelope.
#[derive(Clone)]
pub(super) struct Fields {
    pub(super) source: Source,
    pub(super) urn: Option<Text>,
    pub(super) trace_id: Option<Text>,
    pub(super) data: Option<Span>,
    pub(super) meta: Option<MetaFields>,
    pub(super) attempts: Option<i64>,
    pub(super) dead_letter: Option<Span>,
    pub(super) warnings: Vec<Warning>,
    /// Encoding has to patch the body: it holds forbidden members or a `urn`.
    pub(super) unfolded: bool,
}

/// What is known of the effective `meta` object.
#[derive(Clone)]
pub(super) struct MetaFields {
    pub(super) span: Span,
    pub(super) id: Option<Text>,
    pub(super) queue: Option<Text>,
    pub(super) lang: Option<Text>,
    pub(super) schema_version: Option<i64>,
    pub(super) created_at: Option<i64>,
}
