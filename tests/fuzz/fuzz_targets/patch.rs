//! Rewriting changes what it should and nothing else: identity, payload, meta and unknown members
//! survive, and a second time is no different from the first (SPEC §1.11).
#![no_main]

use babelqueue::Envelope;
use babelqueue::envelope::{DeadLetter, Patch, Reason, WarningKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let Ok(body) = std::str::from_utf8(body) else {
        return;
    };
    // Drawn from the input's length, so that seeds stay plain bodies.
    let attempts = [0, 1, -1, 42, i64::MAX, i64::MIN][body.len() % 6];
    let decoded = if body.len() % 4 == 0 {
        Envelope::decode_lenient(body)
    } else {
        Envelope::decode(body)
    };
    let Ok(before) = decoded else { return };

    let plain = before.encode().expect("decoded envelopes can be encoded");
    if before.warnings().is_empty() && before.member("job").is_some() && !body.contains("urn\"") {
        assert_eq!(plain, body, "nothing to patch, nothing patched");
    }
    assert_eq!(
        again(&plain).encode().expect("encoded"),
        plain,
        "folding is idempotent"
    );

    let counted = before
        .reemit(&Patch::new().attempts(attempts))
        .expect("patched");
    let after = again(&counted);
    assert_eq!(after.attempts(), Some(attempts));
    same(&before, &after);
    assert_eq!(before.dead_letter(), after.dead_letter());

    let mut block = DeadLetter::new(Reason::Failed, "orders", 7);
    block.error = Some(body.chars().take(40).collect());
    let copy = before.dead_letter_copy(&block, attempts).expect("copied");
    let dead = again(&copy);
    same(&before, &dead);
    let written = dead.dead_letter().expect("a block");
    assert_eq!((written.error, written.attempts), (block.error, attempts));
    assert_eq!(dead.attempts(), Some(attempts));

    let back = dead.redriven().expect("redriven");
    let redriven = again(&back);
    same(&before, &redriven);
    assert_eq!(
        (redriven.attempts(), redriven.dead_letter()),
        (Some(0), None)
    );
    assert!(redriven.member("dead_letter").is_none());
});

fn again(text: &str) -> Envelope {
    let envelope = Envelope::decode_lenient(text).expect("what was written can be read");
    // A `job` that is no string stays where there is no `urn` to take its place.
    let stays = |kind| kind == WarningKind::JobIgnored && envelope.urn().is_empty();
    let gone = envelope
        .warnings()
        .iter()
        .all(|warning| stays(warning.kind));
    assert!(gone, "folded members are gone: {text}");
    envelope
}

fn same(a: &Envelope, b: &Envelope) {
    assert_eq!(a.urn(), b.urn());
    assert_eq!(a.trace_id(), b.trace_id());
    assert_eq!(a.data_json(), b.data_json());
    let meta = |envelope: &Envelope| -> Vec<(String, String)> {
        let members = envelope.meta().iter();
        members
            .map(|(name, value)| (name.into_owned(), value.to_owned()))
            .collect()
    };
    assert_eq!(meta(a), meta(b));
    assert_eq!(a.meta().id(), b.meta().id());
    assert_eq!(a.meta().schema_version(), b.meta().schema_version());
}
