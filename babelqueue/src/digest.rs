//! SHA-256 as text. Pure.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Lower-case hex SHA-256.
pub(crate) fn sha256_hex(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    let hex = String::with_capacity(64);
    digest.iter().fold(hex, |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
