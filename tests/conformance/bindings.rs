//! The bindings that the library carries, read off its features, so that a new one brings its
//! sections into scope (SPEC §5.2, §5.3).

use std::collections::BTreeSet;

use crate::suite::Suite;

const MANIFEST: &str = include_str!("../../babelqueue/Cargo.toml");

/// Carried by the core, without a feature: the extraction and injection of `traceparent`
/// (`babelqueue::envelope::trace_context`).
const CORE: &str = "otel";

/// The bindings of the library, sorted.
pub fn carried(suite: &Suite) -> BTreeSet<String> {
    let known = suite.bindings();
    let features = features(MANIFEST).chain([CORE]).map(str::to_owned);
    features.filter(|feature| known.contains(feature)).collect()
}

/// The names in the table of features.
fn features(manifest: &str) -> impl Iterator<Item = &str> {
    manifest
        .lines()
        .skip_while(|line| *line != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name.trim_matches('"'))
}

#[test]
fn features_are_found_and_nothing_else() {
    let manifest = "a = 1\n[features]\nsqs = [\n    \"dep:x\",\n]\n# no\nlocal = []\n[dependencies]\nkafka = \"1\"\n";
    let found: Vec<_> = features(manifest).collect();
    assert_eq!(found, ["sqs", "local"]);
    let own: Vec<_> = features(MANIFEST).collect();
    assert!(own.contains(&"default") && own.contains(&"sqs"), "{own:?}");
}
