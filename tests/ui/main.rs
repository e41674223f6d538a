//! What the compiler says of mistakes, pinned to the letter on the toolchain of the project, and
//! what must compile in hostile surroundings. `TRYBUILD=overwrite` writes the messages anew.

use std::fs;

#[test]
fn mistakes_are_told_in_the_users_words() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}

#[test]
fn hostile_surroundings_compile() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}

/// Mistakes that are not one: three in one struct, all told at once; and two of the compiler's
/// own, the same in number without the attribute.
const NOT_ONE: [(&str, usize); 3] = [
    ("message_several_mistakes_at_once", 3),
    ("handler_c_137_holds_a_borrow", 2),
    ("handler_c_142_half_written_body", 2),
];

#[test]
fn each_mistake_is_told_once() {
    let mut mistakes = 0;
    for entry in fs::read_dir("tests/ui/fail").expect("the folder of mistakes") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let path = path.with_extension("stderr");
        mistakes += 1;
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name");
        let text = fs::read_to_string(&path).expect("the pinned message");
        let errors = text
            .lines()
            .filter(|line| line.starts_with("error"))
            .count();
        let expected = NOT_ONE
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(1, |(_, n)| *n);
        assert_eq!(errors, expected, "errors in {name}:\n{text}");
    }
    assert!(mistakes >= 25, "only {mistakes} mistakes are pinned");
}
