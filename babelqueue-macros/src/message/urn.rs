//! What a URN must look like (RFC 8141, the part that matters here): `urn:<nid>:<nss>`.

/// Says what is wrong with a URN.
pub(super) fn check(urn: &str) -> Result<(), String> {
    let example = "such as \"urn:babel:orders:created\"";
    let refused =
        |c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    if urn.contains(refused) {
        return Err(format!(
            "a URN holds no blanks and no control characters: {example}"
        ));
    }
    let Some(rest) = urn.strip_prefix("urn:") else {
        return Err(format!("a URN starts with `urn:`, {example}"));
    };
    let Some((nid, nss)) = rest.split_once(':') else {
        return Err(format!("a URN has the form urn:<nid>:<nss>, {example}"));
    };
    let is_legal = nid.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if nid.is_empty() || !is_legal || nid.starts_with('-') || nid.ends_with('-') {
        return Err(format!(
            "the namespace of a URN is letters, digits and inner hyphens, not `{nid}`: {example}"
        ));
    }
    if nss.is_empty() || nss.starts_with(':') || nss.ends_with(':') || nss.contains("::") {
        return Err(format!("a part of the URN is empty: {example}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn takes_what_is_a_urn_and_nothing_else() {
        for good in [
            "urn:babel:orders:created",
            "urn:x-1:é",
            "urn:a:b/c?d#e",
            "urn:B:V1",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "urn",
            "urn:",
            "urn:babel",
            "urn:babel:",
            "urn::x",
            "URN:babel:x",
            "orders",
            "urn:b c:x",
            "urn:babel:a b",
            "urn:babel:\u{a0}",
            " urn:a:b",
            "urn:a:b\n",
            "urn:a:\0b",
            "urn:a:b\u{fffe}",
            "urn:a_b:c",
            "urn:-a:b",
            "urn:a:b::c",
            "urn:a::b",
            "urn:a:b:",
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
