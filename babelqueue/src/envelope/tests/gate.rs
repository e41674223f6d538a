//! SPEC §2.8 and §2.9: the version gate, and attempts against receives.

use super::super::{Gate, reconcile_attempts, version_gate};

#[test]
fn absent_and_blank_versions_pass() {
    assert_eq!(version_gate(None), Gate::Pass);
    for blank in [
        "",
        " ",
        "\t",
        "\n",
        "\u{b}",
        "\u{c}",
        "\r",
        " \t\n\u{b}\u{c}\r",
    ] {
        assert_eq!(version_gate(Some(blank)), Gate::Pass, "{blank:?}");
    }
}

#[test]
fn only_exactly_one_passes_and_nothing_is_trimmed() {
    assert_eq!(version_gate(Some("1")), Gate::Pass);
    for other in [
        "2",
        "0",
        "01",
        "1.0",
        "+1",
        "-1",
        "x",
        " 1",
        "1 ",
        "\t1\n",
        "11",
        "\u{a0}",
        "\u{85}",
        "\u{3000}",
        "\u{feff}",
        "\u{a0}1",
        "1\u{85}",
        "\u{3000}1",
        "\u{feff}1",
        "\u{1c}",
        "１",
    ] {
        let declared = other.to_owned();
        assert_eq!(
            version_gate(Some(other)),
            Gate::Reject { declared },
            "{other:?}"
        );
    }
}

#[test]
fn a_long_version_is_shown_cut_to_64_characters() {
    let exact = "ü".repeat(64);
    let declared = exact.clone();
    assert_eq!(version_gate(Some(&exact)), Gate::Reject { declared });
    let declared = format!("{exact}...");
    assert_eq!(
        version_gate(Some(&(exact + "ü"))),
        Gate::Reject { declared }
    );
}

#[test]
fn attempts_are_never_lower_than_the_body_nor_the_receives_before() {
    for (body, count, attempts) in [
        (0, Some("1"), 0),
        (0, Some("3"), 2),
        (2, Some("5"), 4),
        (5, Some("1"), 5),
        (4, Some("not-a-number"), 4),
        (3, None, 3),
        (3, Some("0"), 3),
        (3, Some(""), 3),
        (3, Some("-9"), 3),
        (3, Some("+9"), 3),
        (3, Some(" 9"), 3),
        (3, Some("9.0"), 3),
        (3, Some("٩"), 3),
        (-7, None, 0),
        (-7, Some("3"), 2),
        (i64::MIN, Some("1"), 0),
        (i64::MAX, Some("3"), i64::MAX),
        (0, Some("9223372036854775807"), i64::MAX - 1),
        (0, Some("99999999999999999999"), i64::MAX - 1),
    ] {
        assert_eq!(
            reconcile_attempts(body, count),
            attempts,
            "{body} {count:?}"
        );
    }
}
