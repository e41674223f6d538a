//! Where schemas come from: [`SchemaProvider`], and a map in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::compile::Schema;
use super::error::{SchemaError, ValidationError};
use super::violation::Violation;
use crate::message::BabelMessage;

/// Knows the schemas of some URNs. A URN without a schema is not validated.
pub trait SchemaProvider: Send + Sync {
    /// The schema for the `data` of this URN; `None` when there is none.
    ///
    /// # Errors
    /// A schema that should be there and cannot be used; never a reason to skip validation.
    fn schema(&self, urn: &str) -> Result<Option<Arc<Schema>>, SchemaError>;

    /// The first violation of a payload, given as JSON text; `None` when it fits or its URN has no
    /// schema.
    ///
    /// # Errors
    /// Those of [`schema`](Self::schema), and [`SchemaError::Payload`].
    fn check(&self, urn: &str, data: &str) -> Result<Option<Violation>, SchemaError> {
        match self.schema(urn)? {
            Some(schema) => schema.check(data),
            None => Ok(None),
        }
    }

    /// All violations of a payload, sorted.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    fn check_all(&self, urn: &str, data: &str) -> Result<Vec<Violation>, SchemaError> {
        match self.schema(urn)? {
            Some(schema) => schema.check_all(data),
            None => Ok(Vec::new()),
        }
    }

    /// Refuses a payload that does not fit: before it is published, or before it is handled.
    ///
    /// # Errors
    /// [`ValidationError::Invalid`] with the first violation, or
    /// [`ValidationError::Unusable`].
    fn validate(&self, urn: &str, data: &str) -> Result<(), ValidationError> {
        match self.check(urn, data) {
            Ok(None) => Ok(()),
            Ok(Some(violation)) => Err(ValidationError::Invalid {
                urn: urn.to_owned(),
                violation,
            }),
            Err(source) => Err(ValidationError::Unusable {
                urn: urn.to_owned(),
                source,
            }),
        }
    }
}

impl<P: SchemaProvider + ?Sized> SchemaProvider for Arc<P> {
    fn schema(&self, urn: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        (**self).schema(urn)
    }
}

/// Schemas in memory.
///
/// ```
/// use babelqueue::prelude::*;
/// use babelqueue::schema::{SchemaMap, SchemaProvider as _};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema, BabelMessage)]
/// #[urn = "urn:babel:orders:created"]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// let schemas = SchemaMap::new().with_message::<OrderCreated>();
/// let violation = schemas.check("urn:babel:orders:created", r#"{"order_id":-1}"#)?;
/// assert_eq!(violation.unwrap().to_string(), "order_id: below_minimum");
/// # Ok::<(), babelqueue::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SchemaMap {
    schemas: BTreeMap<String, Arc<Schema>>,
}

impl SchemaMap {
    /// No schemas.
    pub fn new() -> Self {
        Self::default()
    }

    /// Schemas by URN, as JSON text.
    ///
    /// # Errors
    /// [`SchemaError::OfUrn`] for the first that cannot be used.
    pub fn from_json<U, T>(schemas: impl IntoIterator<Item = (U, T)>) -> Result<Self, SchemaError>
    where
        U: Into<String>,
        T: AsRef<str>,
    {
        let mut map = Self::new();
        for (urn, text) in schemas {
            let urn = urn.into();
            let schema = Schema::from_json(text.as_ref()).map_err(|error| error.of_urn(&urn))?;
            map.schemas.insert(urn, Arc::new(schema));
        }
        Ok(map)
    }

    /// Adds the schema of a URN.
    #[must_use]
    pub fn with(mut self, urn: impl Into<String>, schema: Schema) -> Self {
        self.schemas.insert(urn.into(), Arc::new(schema));
        self
    }

    /// Adds the schema of a message type under its URN and its aliases. Without a schema of the
    /// type nothing is added; `#[babel(schema)]` on the type makes sure that it has one.
    #[must_use]
    pub fn with_message<T: BabelMessage>(mut self) -> Self {
        if let Some(schema) = Schema::of::<T>().map(Arc::new) {
            for urn in T::ALIASES.iter().chain([&T::URN]) {
                self.schemas.insert((*urn).to_owned(), Arc::clone(&schema));
            }
        }
        self
    }
}

impl SchemaProvider for SchemaMap {
    fn schema(&self, urn: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(self.schemas.get(urn).cloned())
    }
}
