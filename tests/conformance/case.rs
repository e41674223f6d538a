//! The cases of the manifest and their ids (SPEC §5.2). Which cases there are is read off the
//! manifest alone, so that no runner can leave one out.

use serde_json::Value;

use crate::suite::Suite;

/// One case.
#[derive(Clone)]
pub struct Case {
    pub suite: Suite,
    pub section: String,
    pub id: String,
    pub value: Value,
}

impl Case {
    /// A member of the whole section.
    pub fn of_section(&self, name: &str) -> &Value {
        &self.suite.manifest()[&self.section][name]
    }

    /// The first part of the id, for sections that have parts.
    pub fn part(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    pub fn text(&self, name: &str) -> Result<&str, String> {
        let text = self.value[name].as_str();
        text.ok_or_else(|| format!("the case has no text {name:?}"))
    }

    /// The bytes of the file that the case names.
    pub fn file(&self) -> Result<&[u8], String> {
        let names = ["file", "fixture", "envelope_file"];
        let name = names.iter().find_map(|name| self.value[name].as_str());
        let name = name.or_else(|| self.of_section(self.part())["fixture"].as_str());
        self.suite.file(name.ok_or("the case names no file")?)
    }

    /// The file as text, for what travels as text.
    pub fn body(&self) -> Result<String, String> {
        String::from_utf8(self.file()?.to_vec()).map_err(|error| error.to_string())
    }
}

/// The cases of one section.
pub fn cases_of(suite: &Suite, section: &str) -> Vec<Case> {
    let value = &suite.manifest()[section];
    let case = |(id, value): (String, &Value)| Case {
        suite: suite.clone(),
        section: section.to_owned(),
        id,
        value: value.clone(),
    };
    ids(section, value).into_iter().map(case).collect()
}

fn ids<'v>(section: &str, value: &'v Value) -> Vec<(String, &'v Value)> {
    let mut cases = Vec::new();
    // A bare list is itself a section.
    let own = value.as_array().or_else(|| value["cases"].as_array());
    for (index, case) in own.into_iter().flatten().enumerate() {
        cases.push((
            name_of(case).unwrap_or_else(|| format!("{section}#{index}")),
            case,
        ));
    }
    for (key, part) in value.as_object().into_iter().flatten() {
        if matches!(key.as_str(), "description" | "schema" | "cases") || !part.is_object() {
            continue;
        }
        match part["cases"].as_array() {
            None => cases.push((key.clone(), part)),
            Some(list) => cases.extend(list.iter().enumerate().map(|(index, case)| {
                let name = name_of(case).unwrap_or_else(|| index.to_string());
                (format!("{key}/{name}"), case)
            })),
        }
    }
    cases
}

fn name_of(case: &Value) -> Option<String> {
    case["name"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_follow_the_rules_of_the_suite() {
        let section = json!({
            "description": {"cases": [{"name": "no"}]}, "schema": {}, "number": 5,
            "cases": [{"name": "a"}, {}],
            "part": {"cases": [{"name": "x y"}, {}]},
            "whole": {"envelope_file": "f"},
        });
        let names = |value| {
            ids("s", value)
                .into_iter()
                .map(|(id, _)| id)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&section), ["a", "s#1", "part/x y", "part/1", "whole"]);
        assert_eq!(names(&json!([{"name": "a"}, {}])), ["a", "s#1"]);
    }
}
