//! SPEC §1.10, §1.11: writing a decoded envelope again changes what the patch says and no other
//! byte.

use super::super::{DeadLetter, Patch, Reason};
use super::{BLOCK, block, decode, parse};

#[track_caller]
fn reemits(body: &str, patch: &Patch<'_>, expected: &str) {
    let emitted = decode(body).reemit(patch).expect("emits");
    assert_eq!(emitted, expected);
    decode(&emitted);
}

#[test]
fn without_a_patch_every_byte_stays() {
    for body in [
        "{\"job\":\"urn:x\"}",
        " {\n\t\"job\" : \"urn:\\u0078\" ,\r\n \"n\":[1.50,1E2,1e-400, 123456789012345678901234567890] } ",
        r#"{"meta":{"b":1,"b":2},"x":{},"x":[],"job":"a","job":"b","dead_letter":null}"#,
        r#"{"trace_id":null,"data":{"a":"\/\u00e9"},"attempts":-0,"job":"a"}"#,
    ] {
        reemits(body, &Patch::new(), body);
    }
}

#[test]
fn attempts_replaces_the_last_value_token() {
    let patch = Patch::new().attempts(4);
    for (body, expected) in [
        (r#"{"job":"x","attempts":0}"#, r#"{"job":"x","attempts":4}"#),
        (
            r#"{"attempts": 1 ,"job":"x","attempts" :  2 ,"z":1.50}"#,
            r#"{"attempts": 1 ,"job":"x","attempts" :  4 ,"z":1.50}"#,
        ),
        (
            r#"{"job":"x","attempts":null}"#,
            r#"{"job":"x","attempts":4}"#,
        ),
        (
            r#"{"job":"x","\u0061ttempts":-0}"#,
            r#"{"job":"x","\u0061ttempts":4}"#,
        ),
        // Only the top level counts.
        (
            r#"{"job":"x","data":{"attempts":1},"attempts":1}"#,
            r#"{"job":"x","data":{"attempts":1},"attempts":4}"#,
        ),
    ] {
        reemits(body, &patch, expected);
    }
}

#[test]
fn missing_attempts_become_the_last_member_before_dead_letter() {
    let patch = Patch::new().attempts(4);
    for (body, expected) in [
        (r#"{"job":"x"}"#, r#"{"job":"x","attempts":4}"#),
        ("{\"job\":\"x\"\n}", "{\"job\":\"x\"\n,\"attempts\":4}"),
        (
            r#"{"job":"x", "dead_letter":{}}"#,
            r#"{"job":"x", "attempts":4,"dead_letter":{}}"#,
        ),
        (
            r#"{"dead_letter":null,"job":"x"}"#,
            r#"{"attempts":4,"dead_letter":null,"job":"x"}"#,
        ),
    ] {
        reemits(body, &patch, expected);
    }
    let body = r#"{"job":"x","dead_letter":{"reason":"failed"},"z":1}"#;
    let copy = decode(body).dead_letter_copy(&block(), 3).expect("emits");
    assert_eq!(
        copy,
        format!(r#"{{"job":"x","z":1,"attempts":3,"dead_letter":{BLOCK}}}"#)
    );
}

#[test]
fn attempts_reach_the_largest_integer() {
    let patch = Patch::new().attempts(i64::MAX);
    let expected = r#"{"job":"x","attempts":9223372036854775807}"#;
    reemits(r#"{"job":"x","attempts":1}"#, &patch, expected);
}

#[test]
fn a_dead_letter_replaces_every_older_one_and_goes_last() {
    let block = block();
    let patch = Patch::new().dead_letter(&block);
    for (body, kept) in [
        (r#"{"job":"x","attempts":3}"#, r#"{"job":"x","attempts":3,"#),
        (
            r#"{"dead_letter":null,"job":"x","attempts":3}"#,
            r#"{"job":"x","attempts":3,"#,
        ),
        (
            r#"{"dead_letter":{}, "job":"x" , "dead_letter" : {"reason":"failed"} ,"attempts":3,"d\u0065ad_letter":null}"#,
            r#"{ "job":"x"  ,"attempts":3,"#,
        ),
    ] {
        reemits(body, &patch, &format!(r#"{kept}"dead_letter":{BLOCK}}}"#));
    }
}

#[test]
fn the_block_counts_the_attempts_of_its_copy() {
    let copy = decode(r#"{"job":"x","attempts":1}"#)
        .dead_letter_copy(&block(), 7)
        .expect("emits");
    let copy = parse(&copy);
    assert_eq!(copy["attempts"], 7);
    assert_eq!(copy["dead_letter"]["attempts"], 7);
}

#[test]
fn removing_takes_one_comma_along() {
    let patch = Patch::new().without_dead_letter();
    for (body, expected) in [
        (r#"{"job":"x","dead_letter":{}}"#, r#"{"job":"x"}"#),
        (r#"{"dead_letter":{},"job":"x"}"#, r#"{"job":"x"}"#),
        (
            r#"{ "dead_letter":{} , "dead_letter":null , "job":"x" }"#,
            r#"{   "job":"x" }"#,
        ),
        (
            r#"{"job":"x" , "dead_letter":{"a":[1,2]} , "z":1 , "dead_letter":null }"#,
            r#"{"job":"x"  , "z":1  }"#,
        ),
        (r#"{"job":"x"}"#, r#"{"job":"x"}"#),
    ] {
        reemits(body, &patch, expected);
    }
}

#[test]
fn redriving_removes_the_block_and_starts_over() {
    let body = r#"{"job":"x","price":1.50,"attempts":5,"dead_letter":{"reason":"failed"}}"#;
    let redriven = decode(body).redriven().expect("emits");
    assert_eq!(redriven, r#"{"job":"x","price":1.50,"attempts":0}"#);
}

#[test]
fn forbidden_members_go_in_every_repeated_meta() {
    reemits(
        r#"{"timestamp":1,"job":"x","meta":{"ts":1,"a":1.0,"source":2},"meta":{"m\u0061x_retries":1},"meta":null,"timestamp":[{}]}"#,
        &Patch::new(),
        r#"{"job":"x","meta":{"a":1.0},"meta":{},"meta":null}"#,
    );
}

#[test]
fn a_folded_urn_takes_the_name_or_the_place_of_job() {
    for (body, expected) in [
        // No `job`: the last `urn` gets its name.
        (r#"{"urn":"a","z":1}"#, r#"{"job":"a","z":1}"#),
        (
            r#"{"urn":"a","z":1, "u\u0072n" : "\u0062"}"#,
            r#"{"z":1, "job" : "\u0062"}"#,
        ),
        // A `job` without use: the last one gets the value.
        (r#"{"job":5,"z":1,"urn":"a"}"#, r#"{"job":"a","z":1}"#),
        (
            r#"{"urn":"a","job":"x","urn":"\u0062","job":{"deep":[1]},"z":1}"#,
            r#"{"job":"x","job":"\u0062","z":1}"#,
        ),
        (r#"{"urn":"a","job":""}"#, r#"{"job":"a"}"#),
    ] {
        reemits(body, &Patch::new(), expected);
    }
}

#[test]
fn a_dropped_urn_goes_at_every_occurrence() {
    reemits(
        r#"{"urn":1,"job":"x","urn":"b","z":1,"urn":null}"#,
        &Patch::new(),
        r#"{"job":"x","z":1}"#,
    );
}

#[test]
fn patches_combine() {
    let block = block();
    reemits(
        r#"{"urn":"a","timestamp":1,"dead_letter":null,"meta":{"ts":1}}"#,
        &Patch::new().attempts(3).dead_letter(&block),
        &format!(r#"{{"job":"a","meta":{{}},"attempts":3,"dead_letter":{BLOCK}}}"#),
    );
}

#[test]
fn a_lenient_envelope_can_lose_every_member() {
    let envelope =
        super::super::Envelope::decode_lenient(r#"{"timestamp":1,"dead_letter":{} }"#).expect("ok");
    let patch = Patch::new().without_dead_letter();
    assert_eq!(envelope.reemit(&patch).expect("emits"), "{ }");
    assert_eq!(envelope.redriven().expect("emits"), r#"{ "attempts":0}"#);
}

#[test]
fn a_dead_letter_is_read_back() {
    let block = DeadLetter {
        error: Some("it \"broke\"\n\u{7}\u{ffff}".into()),
        exception: Some("DbError".into()),
        attempts: 2,
        ..DeadLetter::new(Reason::UnknownUrn, "orders.fifo", -1)
    };
    let copy = decode(r#"{"job":"x"}"#)
        .dead_letter_copy(&block, 2)
        .expect("emits");
    assert!(copy.contains(r#"it \"broke\"\n\u0007\uffff"#), "{copy}");
    assert_eq!(decode(&copy).dead_letter(), Some(block));

    let foreign = decode(r#"{"job":"x","dead_letter":{"reason":"tired","error":null,"x":1}}"#);
    let read = foreign.dead_letter().expect("a block");
    assert_eq!(read.reason, Reason::Other("tired".into()));
    assert_eq!(read.error, None);
    assert_eq!((read.lang.as_str(), read.attempts), ("", 0));
}

#[test]
fn the_original_queue_prefers_meta() {
    let queue = |body: &str| decode(body).original_queue("consumed").to_owned();
    assert_eq!(queue(r#"{"job":"x","meta":{"queue":"orders"}}"#), "orders");
    assert_eq!(queue(r#"{"job":"x","meta":{"queue":""}}"#), "consumed");
    assert_eq!(queue(r#"{"job":"x","meta":null}"#), "consumed");
}
