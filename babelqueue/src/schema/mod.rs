//! Validation of payloads against JSON Schemas, per URN and opt-in (SPEC §3.6). Pure but for the
//! directory provider, which reads files; knows the message trait and no queue.
//!
//! The validator is the small subset of JSON Schema that the SDKs of the family share. It knows
//! `type` (one string), `required`, `properties`, `additionalProperties: false`, `items` (one
//! schema), `enum`, `const`, `minLength` and `minimum`. Everything else is ignored, `$ref`, `anyOf`
//! and lists of types included.
//!
//! Give every level its `type`: as JSON Schema has it, the other keywords count here without one
//! too, while other SDKs look at none of them there. Numbers are compared by value, so that
//! `"const": 1` takes `1.0`, which other SDKs refuse.
//!
//! ```
//! use babelqueue::schema::{SchemaMap, SchemaProvider as _};
//!
//! let schemas = SchemaMap::from_json([(
//!     "urn:babel:orders:created",
//!     r#"{"type":"object","required":["order_id"],"properties":{"order_id":{"type":"integer"}}}"#,
//! )])?;
//!
//! schemas.validate("urn:babel:orders:created", r#"{"order_id":1042}"#)?;
//! schemas.validate("urn:babel:orders:unknown", r#"{"anything":"goes"}"#)?;
//! let error = schemas.validate("urn:babel:orders:created", "{}").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "the payload of urn:babel:orders:created is invalid: order_id: missing_required"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compile;
mod constant;
mod directory;
mod error;
mod json;
mod number;
mod provider;
mod violation;
mod walk;

#[cfg(test)]
mod tests;

pub use compile::Schema;
pub use directory::SchemaDirectory;
pub use error::{SchemaError, ValidationError};
pub use provider::{SchemaMap, SchemaProvider};
pub use violation::{Code, Violation};
