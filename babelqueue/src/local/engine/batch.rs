//! What all batch requests have in common.

use std::collections::BTreeSet;

use super::error::{ApiError, ApiResult, Kind};
use super::limits;

/// What became of the entries of a batch, in the order of the request.
pub(crate) type BatchResult<T> = Vec<(String, Result<T, ApiError>)>;

/// Refuses a batch that is empty, too long, or has bad or repeated ids.
pub(crate) fn check_ids<'a>(ids: impl Iterator<Item = &'a str>) -> ApiResult<()> {
    let ids: Vec<_> = ids.collect();
    if ids.is_empty() {
        return Err(Kind::EmptyBatchRequest
            .error("There should be at least one entry in the batch request."));
    }
    if ids.len() > limits::MAX_BATCH {
        return Err(Kind::TooManyEntries.error(format!(
            "Maximum number of entries per request are {}. You have sent {}.",
            limits::MAX_BATCH,
            ids.len()
        )));
    }
    let mut seen = BTreeSet::new();
    for id in ids {
        limits::check_entry_id(id)?;
        if !seen.insert(id) {
            return Err(Kind::BatchEntryIdsNotDistinct.error(format!("Id {id} repeated.")));
        }
    }
    Ok(())
}
