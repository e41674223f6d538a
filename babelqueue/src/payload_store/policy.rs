//! What may be read and written, and whether what was read is what was meant (SPEC §4.10). Pure.

use super::pointer::Pointer;
use super::store::Location;
use crate::digest::sha256_hex;

/// Longest key of S3, in bytes.
const MAX_KEY_BYTES: usize = 1024;

/// What stands before the digest in a key.
const DIGEST_MARK: &str = ".sha256-";

/// The places that pointers may point to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    Anywhere,
    /// Buckets, each with the prefix of the keys.
    Places(Vec<(String, String)>),
}

impl Allowed {
    pub(super) fn contains(&self, location: &Location) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Places(places) => places.iter().any(|(bucket, prefix)| {
                *bucket == location.bucket && location.key.starts_with(prefix.as_str())
            }),
        }
    }
}

/// Refuses places that no store can have, and keys that mean another place to those who resolve
/// them as paths.
pub(super) fn check_location(location: &Location) -> Result<(), &'static str> {
    let Location {
        bucket,
        region,
        key,
    } = location;
    let unprintable = |text: &str| text.chars().any(char::is_control);
    if bucket.is_empty() || bucket.len() > MAX_KEY_BYTES || unprintable(bucket) {
        return Err("it names no bucket");
    }
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        return Err("its key has not 1 to 1024 bytes");
    }
    if unprintable(key) {
        return Err("its key holds control characters");
    }
    if key.split('/').any(|part| matches!(part, "." | "..")) {
        return Err("its key has a part `.` or `..`");
    }
    // It becomes part of a host name.
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match region {
        Some(region) if region.is_empty() || region.len() > 63 || !region.bytes().all(legal) => {
            Err("its region is none")
        }
        _ => Ok(()),
    }
}

/// Whether the content is what the pointer says; the error names what is not.
pub(super) fn check_content(content: &[u8], pointer: &Pointer) -> Result<(), String> {
    if let Some(length) = pointer.length
        && length != content.len() as u64
    {
        let actual = content.len();
        return Err(format!("it has {actual} bytes in place of {length}"));
    }
    match &pointer.sha256 {
        Some(expected) if *expected != sha256_hex(content) => {
            Err(format!("its SHA-256 is not {expected}"))
        }
        _ => Ok(()),
    }
}

/// The name of a new object: the id makes it unique, the digest fixes its content.
pub(super) fn object_name(id: &str, digest: &str) -> String {
    format!("{id}{DIGEST_MARK}{digest}")
}

/// The digest that a key ends in.
pub(super) fn digest_of_key(key: &str) -> Option<&str> {
    let (_, digest) = key.rsplit_once(DIGEST_MARK)?;
    is_digest(digest).then_some(digest)
}

pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
