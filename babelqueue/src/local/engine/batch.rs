//! What all batch requests have in common.

use std::collections::BTreeSet;

use super::error::{ApiError, ApiResult, Kind};
use super::limits;

/// What became of the entries of a batch, in the order of the request.
pub(crate) type BatchResult<T> = Vec<(String, Result<T, ApiError>)>;

/// Refuses a batch that is empty, too long, or has bad or repeated ids.
pub(crate) fn check_ids<E>(entries: &[(String, E)]) -> ApiResult<()> {
    if entries.is_empty() {
        return Err(Kind::EmptyBatchRequest
            .error("There should be at least one entry in the batch request."));
    }
    if entries.len() > limits::MAX_BATCH {
        return Err(Kind::TooManyEntries.error(format!(
            "Maximum number of entries per request are {}. You have sent {}.",
            limits::MAX_BATCH,
            entries.len()
        )));
    }
    let mut seen = BTreeSet::new();
    for (id, _) in entries {
        limits::check_entry_id(id)?;
        if !seen.insert(id) {
            return Err(Kind::BatchEntryIdsNotDistinct.error(format!("Id {id} repeated.")));
        }
    }
    Ok(())
}

/// Carries out the entries of a batch that was found right, but for those at the places `skip`.
pub(crate) fn each<E, T>(
    entries: Vec<(String, E)>,
    skip: &BTreeSet<usize>,
    mut carry_out: impl FnMut(E) -> ApiResult<T>,
) -> BatchResult<T> {
    let entries = entries.into_iter().enumerate();
    entries
        .filter(|(place, _)| !skip.contains(place))
        .map(|(_, (id, entry))| (id, carry_out(entry)))
        .collect()
}
