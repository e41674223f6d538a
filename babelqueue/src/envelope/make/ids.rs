//! Ids of new messages: UUIDs of version 4 from a generator in user space. Two calls into the
//! operating system would cost more than encoding the envelope.

use std::cell::RefCell;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use uuid::fmt::Hyphenated;

thread_local! {
    static SEEDED: RefCell<Option<StdRng>> = const { RefCell::new(None) };
}

/// Makes the ids of this thread repeatable from now on, for simulations; `None` goes back to
/// unpredictable ones.
///
/// ```
/// use babelqueue::envelope::{new_id, seed_ids};
///
/// seed_ids(Some(7));
/// let first = new_id();
/// seed_ids(Some(7));
/// assert_eq!(new_id(), first);
/// # seed_ids(None);
/// ```
pub fn seed_ids(seed: Option<u64>) {
    SEEDED.set(seed.map(StdRng::seed_from_u64));
}

/// A new UUID of version 4 as text, hyphenated, lower case.
///
/// It comes from a cryptographic generator that was seeded by the operating system. A generator
/// with 64 bits of state would not do: ids deduplicate messages, and a fleet draws billions.
pub fn new_id() -> String {
    let mut text = [0; Hyphenated::LENGTH];
    write_id(&mut text).to_owned()
}

/// Writes a new id into `text` without allocating.
pub(super) fn write_id(text: &mut [u8; Hyphenated::LENGTH]) -> &str {
    let mut bytes = [0; 16];
    SEEDED.with_borrow_mut(|seeded| match seeded {
        Some(rng) => rng.fill_bytes(&mut bytes),
        None => rand::rng().fill_bytes(&mut bytes),
    });
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    id.hyphenated().encode_lower(text)
}
