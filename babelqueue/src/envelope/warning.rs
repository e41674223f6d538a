//! Warnings of decode: what was dropped from a body that is fine otherwise.

/// One thing that decode dropped (SPEC §1.5). It is also emitted as a `tracing` warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// What happened.
    pub kind: WarningKind,
    /// The member, as an RFC 6901 pointer.
    pub pointer: &'static str,
}

/// The kinds of [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// A member that the contract forbids was dropped.
    ForbiddenMember,
    /// `urn` was dropped because `job` names the message.
    UrnDropped,
    /// `job` is not a string, so `urn` names the message.
    JobIgnored,
}

impl Warning {
    /// Emits the warning to `tracing`.
    pub(super) fn emit(self) {
        let pointer = self.pointer;
        match self.kind {
            WarningKind::ForbiddenMember => {
                tracing::warn!(pointer, "dropped a member that the contract forbids");
            }
            WarningKind::UrnDropped => {
                tracing::warn!(pointer, "dropped `urn` because `job` names the message");
            }
            WarningKind::JobIgnored => {
                tracing::warn!(pointer, "ignored a `job` that is not a string");
            }
        }
    }
}
