//! Schemas from a registry directory (SPEC §3.8): `registry.json` names them, each is read when it
//! is first asked for and kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use super::compile::Schema;
use super::error::SchemaError;
use super::provider::SchemaProvider;

/// The schemas that a `registry.json` names:
/// `{"schemas":[{"urn":"…","schema":"schemas/orders.json"}]}`, paths relative to it.
///
/// The manifest is read on opening; schemas are read on first use, by blocking file reads, and
/// kept. To find every mistake at the start, call [`load_all`](Self::load_all).
#[derive(Debug)]
pub struct SchemaDirectory {
    files: BTreeMap<String, PathBuf>,
    loaded: Mutex<BTreeMap<String, Arc<Schema>>>,
}

#[derive(Deserialize)]
struct Manifest {
    schemas: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    urn: String,
    schema: String,
}

impl SchemaDirectory {
    /// Opens a registry by the path of its manifest.
    ///
    /// # Errors
    /// [`SchemaError::Read`]; [`SchemaError::Manifest`] for text of another shape, an empty URN or
    /// path, and a URN given twice.
    pub fn open(manifest: impl AsRef<Path>) -> Result<Self, SchemaError> {
        let path = manifest.as_ref();
        let refuse = |reason: String| SchemaError::Manifest {
            path: path.to_owned(),
            reason,
        };
        let text = read(path)?;
        let parsed: Manifest =
            serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut files = BTreeMap::new();
        for Entry { urn, schema } in parsed.schemas {
            if urn.is_empty() {
                return Err(refuse("an entry has an empty `urn`".to_owned()));
            }
            if schema.is_empty() {
                return Err(refuse(format!("the entry of {urn} has an empty `schema`")));
            }
            let file = directory.join(schema);
            if files.insert(urn.clone(), file).is_some() {
                return Err(refuse(format!("{urn} is there twice")));
            }
        }
        Ok(Self {
            files,
            loaded: Mutex::default(),
        })
    }

    /// The URNs that have a schema, sorted.
    pub fn urns(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Reads all schemas now.
    ///
    /// # Errors
    /// [`SchemaError::OfUrn`] for the first that cannot be used.
    pub fn load_all(&self) -> Result<(), SchemaError> {
        self.urns().try_for_each(|urn| self.schema(urn).map(|_| ()))
    }
}

impl SchemaProvider for SchemaDirectory {
    fn schema(&self, urn: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        let Some(file) = self.files.get(urn) else {
            return Ok(None);
        };
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = loaded.get(urn) {
            return Ok(Some(Arc::clone(schema)));
        }
        let schema = read(file)
            .and_then(|text| Schema::from_json(&text))
            .map_err(|error| error.of_urn(urn))?;
        let schema = Arc::new(schema);
        loaded.insert(urn.to_owned(), Arc::clone(&schema));
        Ok(Some(schema))
    }
}

fn read(path: &Path) -> Result<String, SchemaError> {
    std::fs::read_to_string(path).map_err(|source| SchemaError::Read {
        path: path.to_owned(),
        source,
    })
}
