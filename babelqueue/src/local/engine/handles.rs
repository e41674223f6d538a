//! Receipt handles. A handle names the queue, the message and the receive that
//! it came from, and carries a seal, so that one that this server never gave
//! out is told from one that is merely old.

use std::hash::{DefaultHasher, Hash, Hasher};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::store::Ticket;

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    pub(crate) queue: u64,
    pub(crate) ticket: Ticket,
    /// Which receive of the message it was.
    pub(crate) receive: u32,
}

const LEN: usize = 8 + 8 + 4 + 4 + 8 + 8;

/// Writes a handle. `salt` makes handles look as unlike as those of SQS do.
pub(crate) fn write(handle: Handle, salt: u64) -> String {
    let (serial, slot) = handle.ticket.parts();
    let mut bytes = [0_u8; LEN];
    bytes[0..8].copy_from_slice(&salt.to_be_bytes());
    bytes[8..16].copy_from_slice(&handle.queue.to_be_bytes());
    bytes[16..24].copy_from_slice(&serial.to_be_bytes());
    bytes[24..28].copy_from_slice(&slot.to_be_bytes());
    bytes[28..32].copy_from_slice(&handle.receive.to_be_bytes());
    let seal = seal(&bytes[..32]);
    bytes[32..40].copy_from_slice(&seal.to_be_bytes());
    veil(&mut bytes, salt);
    STANDARD.encode(bytes)
}

/// Reads a handle back; `None` for what this server never wrote.
pub(crate) fn read(text: &str) -> Option<Handle> {
    let mut bytes: [u8; LEN] = STANDARD.decode(text).ok()?.try_into().ok()?;
    let salt = be64(&bytes[0..8])?;
    veil(&mut bytes, salt);
    if seal(&bytes[..32]) != be64(&bytes[32..40])? {
        return None;
    }
    Some(Handle {
        queue: be64(&bytes[8..16])?,
        ticket: Ticket::from_parts(be64(&bytes[16..24])?, be32(&bytes[24..28])?),
        receive: be32(&bytes[28..32])?,
    })
}

fn seal(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Makes the parts unreadable, so that nobody comes to lean on them. Its own inverse.
fn veil(bytes: &mut [u8; LEN], salt: u64) {
    let mut stream = fastrand::Rng::with_seed(salt);
    for byte in &mut bytes[8..] {
        *byte ^= stream.u8(..);
    }
}

fn be64(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

fn be32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_read_back_and_strangers_do_not() {
        let handle = Handle {
            queue: 7,
            ticket: Ticket::from_parts(42, 3),
            receive: 2,
        };
        let text = write(handle, 99);
        assert_eq!(read(&text), Some(handle));
        assert_ne!(text, write(handle, 100));
        assert_eq!(read("garbage"), None);
        assert_eq!(read(&STANDARD.encode([0_u8; LEN])), None);
        let mut changed = text.into_bytes();
        changed[20] = if changed[20] == b'A' { b'B' } else { b'A' };
        assert_eq!(read(std::str::from_utf8(&changed).unwrap()), None);
    }
}
