//! The cross-SDK conformance suite 1.8.0, through the public API and, where a queue takes part,
//! through the real publisher and consumer over the embedded SQS (SPEC part 5).
//!
//! The suite is obtained by `pip download`, checked by its hash, and kept below the target
//! folder; nothing of it is committed. The outcome goes to `target/conformance/results.json`.

mod bindings;
mod case;
mod compare;
mod gate;
mod results;
mod run;
mod sections;
mod suite;
mod tamper;
mod world;

use std::collections::BTreeMap;

use babelqueue::Envelope;
use babelqueue::envelope::{DeadLetter, Reason};

use crate::case::Case;
use crate::run::{execute, execute_all};
use crate::suite::Suite;

fn suite() -> Suite {
    match Suite::obtain() {
        Ok(suite) => suite,
        Err(error) => panic!("the conformance suite cannot be obtained: {error}"),
    }
}

#[test]
fn conformance() {
    let suite = suite();
    let outcome = execute_all(&suite.cases());
    let results = results::write(&suite, &outcome);
    let failures: Vec<_> = outcome
        .iter()
        .filter_map(|((section, id), verdict)| {
            let reason = verdict.as_ref().err()?;
            Some(format!("{section} {id}: {reason}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let complaints = gate::check(&suite, &results);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert_eq!(outcome.len(), 333);
}

/// Every expectation of every case is changed, one at a time, and each change must be noticed.
#[test]
fn a_tampered_expectation_fails() {
    let suite = suite();
    let mut by_section: BTreeMap<String, usize> = BTreeMap::new();
    let mut unnoticed = Vec::new();
    for case in suite.cases() {
        let unknown = tamper::unknown_members(&case);
        assert!(
            unknown.is_empty(),
            "{} {}: {unknown:?} are neither tampered with nor known to be inputs",
            case.section,
            case.id
        );
        let variants = tamper::variants(&case);
        assert!(
            !variants.is_empty(),
            "{} {}: nothing to tamper with",
            case.section,
            case.id
        );
        for (what, value) in variants {
            let tampered = Case {
                value,
                ..case.clone()
            };
            if execute(&tampered).is_ok() {
                unnoticed.push(format!("{} {}: {what}", case.section, case.id));
            }
            *by_section.entry(case.section.clone()).or_default() += 1;
        }
    }
    assert!(
        unnoticed.is_empty(),
        "not noticed:\n{}",
        unnoticed.join("\n")
    );
    assert_eq!(by_section.len(), 18, "{by_section:?}");
}

/// SPEC §1.1 and §1.7: only the language is not among those of the family.
#[test]
fn what_is_made_passes_the_schema_of_producers() {
    let schema = suite().schema("message-envelope");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let check = |text: &str| -> Vec<String> {
        let envelope = serde_json::from_str(text).expect("an object");
        let errors = validator.iter_errors(&envelope);
        errors
            .map(|error| error.instance_path().to_string())
            .collect()
    };
    let builder = || Envelope::builder("urn:babel:orders:created").meta("ext", &1);
    let made = builder().build().expect("an envelope");
    assert_eq!(check(made.body()), ["/meta/lang"]);
    let made = builder().lang("go").build().expect("an envelope");
    assert_eq!(check(made.body()), [""; 0]);

    let mut block = DeadLetter::new(Reason::Failed, "orders", 7);
    let copy = made.dead_letter_copy(&block, 1).expect("a copy");
    assert_eq!(check(&copy), ["/dead_letter/lang"]);
    block.lang = "go".to_owned();
    block.error = Some("it broke".to_owned());
    let copy = made.dead_letter_copy(&block, 1).expect("a copy");
    assert_eq!(check(&copy), [""; 0]);
}

#[test]
fn a_case_that_nobody_runs_fails() {
    let suite = suite();
    let mut cases = suite.cases();
    let mut unknown = cases.remove(0);
    unknown.section = "made_up".to_owned();
    assert!(execute(&unknown).is_err());

    // And one that is missing from the results, or beside them, does not pass the gate.
    let outcome = execute_all(&cases);
    let results = results::render(&suite, &outcome);
    let complaints = gate::check(&suite, &results);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    let mut forged = results::render(&suite, &outcome);
    forged["sections"]["made_up"] = serde_json::json!({ "x": { "status": "skip" } });
    assert!(gate::check(&suite, &forged).len() > 1);
    // So do bindings that are not those of the library.
    for bindings in [&["sqs"][..], &["kafka", "otel", "sqs"]] {
        let mut forged = results::render(&suite, &outcome);
        forged["bindings"] = serde_json::json!(bindings);
        assert_eq!(gate::check(&suite, &forged).len(), 2);
    }
}

/// The first run on a machine: several downloads at once do not take each other's files.
#[test]
fn downloads_at_the_same_time_do_not_meet() {
    let downloads = [(); 3].map(|()| std::thread::spawn(|| suite::download_from(None)));
    for download in downloads {
        let archive = download.join().expect("no panic").expect("a download");
        Suite::unpack(archive).expect("the archive, whole");
    }
}

#[test]
fn a_missing_network_is_a_clear_failure() {
    let error = suite::download_from(Some("http://127.0.0.1:9/simple"))
        .expect_err("nothing answers there")
        .to_string();
    for word in ["pip", "babelqueue==1.24.0", suite::ARCHIVE_VARIABLE] {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn an_archive_that_was_changed_is_refused() {
    let suite = suite();
    let mut archive = suite.archive().to_vec();
    archive.push(0);
    let error = Suite::unpack(archive)
        .expect_err("its hash is another")
        .to_string();
    assert!(error.contains("SHA-256"), "{error}");
}
