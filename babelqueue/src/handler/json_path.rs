//! Names the place in a JSON text where a parser stopped. Pure; runs only on the error path, and
//! once for all payload types, so that no payload is compiled twice for its error messages.

enum Frame {
    Object { key: String },
    Array { index: usize },
}

/// The path, below `root`, of what stands at `line` and `column` (both from 1, columns in bytes),
/// such as `data.items[2].price`.
pub(super) fn json_path(root: &str, json: &str, line: usize, column: usize) -> String {
    let mut path = root.to_owned();
    for frame in frames_before(json, offset_of(json, line, column)) {
        match frame {
            Frame::Object { key } if key.is_empty() => {}
            Frame::Object { key } => {
                path.push('.');
                path.push_str(&key);
            }
            Frame::Array { index } => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

fn offset_of(json: &str, line: usize, column: usize) -> usize {
    let start: usize = json
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    (start + column).min(json.len())
}

/// The containers still open at `end`.
fn frames_before(json: &str, end: usize) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut bytes = json.bytes().enumerate().take(end);
    // The string read last, until it proves to be a name.
    let mut text = String::new();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'{' => frames.push(Frame::Object { key: String::new() }),
            b'[' => frames.push(Frame::Array { index: 0 }),
            b'}' | b']' => {
                frames.pop();
            }
            b',' => match frames.last_mut() {
                Some(Frame::Array { index }) => *index += 1,
                Some(Frame::Object { key }) => key.clear(),
                None => {}
            },
            b':' => {
                if let Some(Frame::Object { key }) = frames.last_mut() {
                    key.clone_from(&text);
                }
            }
            b'"' => {
                let mut escaped = false;
                let close = bytes.find(|&(_, byte)| {
                    let is_close = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    is_close
                });
                let Some((close, _)) = close else {
                    return frames;
                };
                text = serde_json::from_str(&json[at..=close]).unwrap_or_default();
            }
            _ => {}
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::json_path;

    /// Parses into a type that wants numbers everywhere, and names the place of the error.
    fn place<T: serde::de::DeserializeOwned>(json: &str) -> String {
        let error = serde_json::from_str::<T>(json)
            .err()
            .expect("the text must not fit");
        json_path("data", json, error.line(), error.column())
    }

    #[test]
    fn names_members_and_elements() {
        use std::collections::BTreeMap;
        type Nested = BTreeMap<String, Vec<BTreeMap<String, u8>>>;
        assert_eq!(
            place::<Nested>(r#"{"a":[{"b":1},{"c":"x"}]}"#),
            "data.a[1].c"
        );
        assert_eq!(
            place::<Nested>("{\n  \"a\": [\n    {\"b\": true}\n  ]\n}"),
            "data.a[0].b"
        );
        assert_eq!(place::<Nested>(r#"{"ok":[],"q\"}é":7}"#), "data.q\"}é");
    }

    #[test]
    fn a_missing_member_is_the_objects_own_fault() {
        #[derive(serde::Deserialize)]
        #[allow(dead_code)]
        struct Outer {
            inner: Inner,
        }
        #[derive(serde::Deserialize)]
        #[allow(dead_code)]
        struct Inner {
            id: u64,
        }
        assert_eq!(place::<Outer>(r#"{"inner":{"x":1}}"#), "data.inner");
        assert_eq!(place::<Outer>("{}"), "data");
    }
}
