//! The message that another one follows from, written under `meta.ext.babelqueue`. Pure.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::message::PublishError;

/// Where this library's own extensions stand under `meta.ext`.
const VENDOR: &str = "babelqueue";

/// Adds the causation to the extensions of `meta`, beside what `ext` holds already.
pub(super) fn add_causation(
    meta: &mut Vec<(String, String)>,
    causation_id: &str,
) -> Result<(), PublishError> {
    let refuse = |reason| PublishError::Causation { reason };
    let own = serde_json::json!({ "causation_id": causation_id }).to_string();
    let Some((_, ext)) = meta.iter_mut().find(|(key, _)| key == "ext") else {
        meta.push(("ext".to_owned(), format!(r#"{{"{VENDOR}":{own}}}"#)));
        return Ok(());
    };
    let mut vendors: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(ext).map_err(|_| refuse("it is not an object"))?;
    if vendors.contains_key(VENDOR) {
        return Err(refuse("its member `babelqueue` is the library's own"));
    }
    let own = RawValue::from_string(own).map_err(|_| refuse("the id is not text"))?;
    vendors.insert(VENDOR.to_owned(), own);
    *ext = serde_json::to_string(&vendors).map_err(|_| refuse("it is not JSON"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(ext: Option<&str>) -> Result<String, PublishError> {
        let mut meta = vec![("x".to_owned(), "1".to_owned())];
        meta.extend(ext.map(|ext| ("ext".to_owned(), ext.to_owned())));
        add_causation(&mut meta, "m-\"1\"").map(|()| meta.swap_remove(1).1)
    }

    #[test]
    fn it_stands_beside_what_others_put_there() {
        let own = r#""babelqueue":{"causation_id":"m-\"1\""}"#;
        assert_eq!(added(None).expect("alone"), format!("{{{own}}}"));
        assert_eq!(added(Some("{}")).expect("empty"), format!("{{{own}}}"));
        // The spelling of numbers stays.
        let beside = added(Some(r#"{"acme":{"n":1.50}}"#)).expect("beside");
        assert_eq!(beside, format!(r#"{{"acme":{{"n":1.50}},{own}}}"#));
        assert!(added(Some("[]")).is_err());
        assert!(added(Some(r#"{"babelqueue":1}"#)).is_err());
    }
}
