//! The subset, keyword by keyword: codes, order and equality.

use super::{Schema, SchemaDirectory, SchemaError, SchemaMap, SchemaProvider, ValidationError};

fn first(schema: &str, data: &str) -> Option<String> {
    let schema = Schema::from_json(schema).expect("a schema");
    let violation = schema.check(data).expect("a payload");
    violation.map(|violation| violation.to_string())
}

fn all(schema: &str, data: &str) -> Vec<String> {
    let schema = Schema::from_json(schema).expect("a schema");
    let violations = schema.check_all(data).expect("a payload");
    violations.iter().map(ToString::to_string).collect()
}

#[test]
fn every_keyword_has_its_code() {
    let rows = [
        (r#"{"const":1}"#, "2", "wrong_const"),
        (r#"{"enum":[1,"a"]}"#, "2", "not_in_enum"),
        (r#"{"enum":[]}"#, "2", "not_in_enum"),
        (r#"{"type":"string"}"#, "1", "not_a_string"),
        (r#"{"type":"integer"}"#, "1.5", "not_an_integer"),
        (r#"{"type":"integer"}"#, "true", "not_an_integer"),
        (r#"{"type":"integer"}"#, "\"1\"", "not_an_integer"),
        (r#"{"type":"number"}"#, "true", "not_a_number"),
        (r#"{"type":"boolean"}"#, "1", "not_a_boolean"),
        (r#"{"type":"null"}"#, "0", "not_null"),
        (r#"{"type":"object"}"#, "[]", "not_an_object"),
        (r#"{"type":"array"}"#, "{}", "not_an_array"),
        (
            r#"{"type":"string","minLength":2}"#,
            "\"a\"",
            "below_min_length",
        ),
        (r#"{"type":"number","minimum":1}"#, "0.5", "below_minimum"),
    ];
    for (schema, data, code) in rows {
        let expected = Some(format!("<root>: {code}"));
        assert_eq!(first(schema, data), expected, "{schema} {data}");
    }
}

#[test]
fn what_fits_has_no_violation() {
    let rows = [
        (r#"{"const":1}"#, "1.0"),
        (r#"{"const":1.0}"#, "1"),
        (
            r#"{"const":{"a":[1,{"b":null}]}}"#,
            r#"{ "a" : [ 1e0, {"b":null} ] }"#,
        ),
        (r#"{"enum":[true,"x"]}"#, "\"\\u0078\""),
        (r#"{"type":"integer"}"#, "1.0"),
        (r#"{"type":"integer"}"#, "12345678901234567890123456789"),
        (r#"{"type":"number","minimum":0}"#, "-0.0"),
        (r#"{"type":"string","minLength":1}"#, "\"😀\""),
        (r#"{"minLength":9,"minimum":9,"required":["a"]}"#, "null"),
        (r#"{"type":["string","null"]}"#, "5"),
        (
            r#"{"type":"object","x-gdpr-sensitive":true,"maxLength":0}"#,
            "{}",
        ),
        ("true", "[]"),
    ];
    for (schema, data) in rows {
        assert_eq!(first(schema, data), None, "{schema} {data}");
    }
}

/// A schema's own numbers are as exact as the payload's.
#[test]
fn integers_beyond_64_bits_equal_themselves_and_nothing_beside_them() {
    let (number, next) = ("10000000000000000000000000", "10000000000000000000000001");
    for keyword in [
        format!(r#"{{"const":{number}}}"#),
        format!(r#"{{"enum":[1,{{"a":[{number}]}},{number}]}}"#),
    ] {
        assert_eq!(first(&keyword, number), None, "{keyword}");
        assert_eq!(first(&keyword, "1e25"), None, "{keyword}");
        assert!(first(&keyword, next).is_some(), "{keyword}");
    }
    let schema = format!(r#" {{"minimum":{next}}}"#);
    assert_eq!(first(&schema, next), None);
    assert_eq!(
        first(&schema, number).as_deref(),
        Some("<root>: below_minimum")
    );
}

#[test]
fn equality_is_typed_and_exact() {
    let rows = [
        ("true", "1"),
        ("1", "true"),
        ("\"1\"", "1"),
        ("null", "0"),
        ("{}", "[]"),
        ("[1]", "[1,1]"),
        (r#"{"a":1}"#, r#"{"a":1,"b":2}"#),
        ("9007199254740992", "9007199254740993"),
    ];
    for (constant, data) in rows {
        let schema = format!(r#"{{"const":{constant}}}"#);
        let expected = Some("<root>: wrong_const".to_owned());
        assert_eq!(first(&schema, data), expected, "{constant} {data}");
    }
}

#[test]
fn paths_name_members_and_elements() {
    let schema = r#"{"properties":{"a":{"items":{"properties":{"b":{"type":"string"}}}}}}"#;
    let data = r#"{"a":[{"b":"x"},{"b":1}]}"#;
    assert_eq!(first(schema, data).as_deref(), Some("a[1].b: not_a_string"));
    let nested = r#"{"items":{"items":{"type":"null"}}}"#;
    assert_eq!(
        first(nested, "[[null],[null,1]]").as_deref(),
        Some("[1][1]: not_null")
    );
}

#[test]
fn the_order_inside_a_node_is_pinned() {
    let schema = r#"{"const":1,"enum":[2],"type":"string"}"#;
    assert_eq!(first(schema, "3").as_deref(), Some("<root>: wrong_const"));
    let codes = [
        "<root>: not_a_string",
        "<root>: not_in_enum",
        "<root>: wrong_const",
    ];
    assert_eq!(all(schema, "3"), codes);

    // Required members in the order of the list, before any member.
    let schema = r#"{"required":["z","a"],"properties":{"x":{"type":"string"}}}"#;
    assert_eq!(
        first(schema, r#"{"x":1}"#).as_deref(),
        Some("z: missing_required")
    );

    // Members in the order of the payload.
    let schema = r#"{"properties":{"a":{"type":"null"},"b":{"type":"null"}}}"#;
    assert_eq!(
        first(schema, r#"{"b":1,"a":1}"#).as_deref(),
        Some("b: not_null")
    );
    assert_eq!(
        all(schema, r#"{"b":1,"a":1}"#),
        ["a: not_null", "b: not_null"]
    );
}

#[test]
fn closed_objects_refuse_other_members() {
    let schema = r#"{"additionalProperties":false,"properties":{"a":true,"never":false}}"#;
    assert_eq!(first(schema, r#"{"a":[]}"#), None);
    let other = first(schema, r#"{"a":1,"b":1}"#);
    assert_eq!(other.as_deref(), Some("b: additional_not_allowed"));
    let never = first(schema, r#"{"never":1}"#);
    assert_eq!(never.as_deref(), Some("never: additional_not_allowed"));
    let open = r#"{"additionalProperties":{"type":"string"}}"#;
    assert_eq!(first(open, r#"{"a":1}"#), None);
}

#[test]
fn the_last_of_a_repeated_member_counts() {
    let schema = r#"{"properties":{"a":{"type":"integer"}}}"#;
    assert_eq!(first(schema, r#"{"a":"x","a":1}"#), None);
    let last = first(schema, r#"{"a":1,"\u0061":"x"}"#);
    assert_eq!(last.as_deref(), Some("a: not_an_integer"));
}

#[test]
fn a_deep_payload_is_no_danger() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(
        first(
            r#"{"required":["a"],"properties":{"a":{"type":"array"}}}"#,
            &deep
        ),
        None
    );
    let wrong = first(r#"{"properties":{"a":{"type":"object"}}}"#, &deep);
    assert_eq!(wrong.as_deref(), Some("a: not_an_object"));
}

#[test]
fn unusable_schemas_and_payloads_are_errors() {
    assert!(matches!(
        Schema::from_json("{"),
        Err(SchemaError::NotJson(_))
    ));
    assert!(matches!(
        Schema::from_json("[]"),
        Err(SchemaError::NotAnObject)
    ));
    let schema = Schema::from_json("{}").expect("a schema");
    assert!(matches!(schema.check("{"), Err(SchemaError::Payload(_))));
    let error = SchemaMap::from_json([("urn:x", "5")]).expect_err("no schema");
    assert_eq!(
        error.to_string(),
        "the schema of urn:x cannot be used: a schema must be a JSON object"
    );
}

#[test]
fn a_directory_reads_on_first_use_and_never_skips_a_broken_schema() {
    let directory = std::env::temp_dir().join(format!("bq-schema-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let write = |name: &str, text: &str| {
        std::fs::write(directory.join(name), text).expect("a file");
    };
    write("good.json", r#"{"type":"object","required":["a"]}"#);
    write("bad.json", "[");
    write(
        "registry.json",
        r#"{"schemas":[{"urn":"urn:good","schema":"good.json","owner":"me"},
            {"urn":"urn:bad","schema":"bad.json"},{"urn":"urn:gone","schema":"gone.json"}]}"#,
    );
    let registry = SchemaDirectory::open(directory.join("registry.json")).expect("a registry");

    assert!(registry.validate("urn:other", "[]").is_ok());
    let invalid = registry.validate("urn:good", "{}").expect_err("invalid");
    assert!(invalid.violation().is_some(), "{invalid}");
    // Kept: the file is not needed any more.
    std::fs::remove_file(directory.join("good.json")).expect("removed");
    assert!(registry.validate("urn:good", r#"{"a":1}"#).is_ok());
    for urn in ["urn:bad", "urn:gone"] {
        let error = registry.validate(urn, "{}").expect_err("unusable");
        assert!(matches!(error, ValidationError::Unusable { .. }), "{error}");
    }
    assert!(registry.load_all().is_err());

    for (manifest, reason) in [
        (r#"{"schemas":[{"urn":"","schema":"x"}]}"#, "empty `urn`"),
        (r#"{"schemas":[{"urn":"u","schema":""}]}"#, "empty `schema`"),
        (
            r#"{"schemas":[{"urn":"u","schema":"x"},{"urn":"u","schema":"y"}]}"#,
            "twice",
        ),
        ("[]", "registry manifest"),
    ] {
        write("other.json", manifest);
        let error = SchemaDirectory::open(directory.join("other.json")).expect_err("refused");
        assert!(error.to_string().contains(reason), "{error}");
    }
    std::fs::remove_dir_all(&directory).expect("cleaned up");
}
