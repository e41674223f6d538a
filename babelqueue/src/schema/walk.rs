//! The walk over a payload along its schema. Its depth is that of the schema, whatever the
//! payload's; inside a node the order is const, enum, type, required, then members or elements
//! (SPEC §3.6).

use super::compile::{Kind, Node};
use super::error::SchemaError;
use super::json::{Members, elements};
use super::number::Number;
use super::violation::{Code, Violation};

/// One validation.
pub(super) struct Walk {
    first_only: bool,
    path: String,
    pub(super) found: Vec<Violation>,
}

/// Goes on, or not: `Err(None)` ends the walk because the first violation is found.
type Step = Result<(), Option<SchemaError>>;

impl Walk {
    pub(super) fn to_the_first() -> Self {
        Self {
            first_only: true,
            path: String::new(),
            found: Vec::new(),
        }
    }

    pub(super) fn to_the_end() -> Self {
        Self {
            first_only: false,
            ..Self::to_the_first()
        }
    }

    pub(super) fn start(&mut self, root: &Node, data: &str) -> Result<(), SchemaError> {
        // One look at the whole of it: what no keyword looks into must be JSON all the same.
        let whole: &serde_json::value::RawValue =
            serde_json::from_str(data).map_err(SchemaError::Payload)?;
        match self.node(root, whole.get()) {
            Err(Some(error)) => Err(error),
            Ok(()) | Err(None) => Ok(()),
        }
    }

    fn node(&mut self, node: &Node, text: &str) -> Step {
        if node.never {
            return self.violation(Code::AdditionalNotAllowed);
        }
        if let Some(constant) = &node.constant
            && !constant.equals(text).map_err(payload)?
        {
            self.violation(Code::WrongConst)?;
        }
        if let Some(choices) = &node.choices {
            let mut fits = false;
            for choice in choices {
                fits = fits || choice.equals(text).map_err(payload)?;
            }
            if !fits {
                self.violation(Code::NotInEnum)?;
            }
        }
        if let Some(code) = node.kind.and_then(|kind| misfit(kind, text)) {
            // Of the wrong type, nothing else can be said of it.
            return self.violation(code);
        }
        match text.as_bytes().first() {
            Some(b'{') => self.object(node, text),
            Some(b'[') => self.array(node, text),
            Some(b'"') => self.string(node, text),
            Some(b't' | b'f' | b'n') => Ok(()),
            _ => self.number(node, text),
        }
    }

    fn object(&mut self, node: &Node, text: &str) -> Step {
        if node.required.is_empty() && node.properties.is_empty() && !node.closed {
            return Ok(());
        }
        let members = Members::parse(text).map_err(payload)?;
        for name in &node.required {
            if members.get(name).is_none() {
                self.member(name, |walk| walk.violation(Code::MissingRequired))?;
            }
        }
        for (name, value) in members.iter() {
            match node.properties.get(name) {
                Some(property) => self.member(name, |walk| walk.node(property, value))?,
                None if node.closed => {
                    self.member(name, |walk| walk.violation(Code::AdditionalNotAllowed))?;
                }
                None => {}
            }
        }
        Ok(())
    }

    fn array(&mut self, node: &Node, text: &str) -> Step {
        let Some(items) = &node.items else {
            return Ok(());
        };
        let elements = elements(text).map_err(payload)?;
        for (index, element) in elements.into_iter().enumerate() {
            let step = format!("[{index}]");
            self.at(&step, |walk| walk.node(items, element.get()))?;
        }
        Ok(())
    }

    fn string(&mut self, node: &Node, text: &str) -> Step {
        let Some(least) = node.min_length else {
            return Ok(());
        };
        let string: String = serde_json::from_str(text).map_err(payload)?;
        // Code points, which is what a Rust char is.
        if (string.chars().count() as u64) < least {
            return self.violation(Code::BelowMinLength);
        }
        Ok(())
    }

    fn number(&mut self, node: &Node, text: &str) -> Step {
        let (Some(minimum), Some(number)) = (&node.minimum, Number::parse(text)) else {
            return Ok(());
        };
        if number < *minimum {
            return self.violation(Code::BelowMinimum);
        }
        Ok(())
    }

    fn member(&mut self, name: &str, look: impl FnOnce(&mut Self) -> Step) -> Step {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.at(&format!("{dot}{name}"), look)
    }

    fn at(&mut self, step: &str, look: impl FnOnce(&mut Self) -> Step) -> Step {
        let length = self.path.len();
        self.path.push_str(step);
        let result = look(self);
        self.path.truncate(length);
        result
    }

    fn violation(&mut self, code: Code) -> Step {
        self.found.push(Violation {
            path: self.path.clone(),
            code,
        });
        if self.first_only { Err(None) } else { Ok(()) }
    }
}

fn payload(error: serde_json::Error) -> Option<SchemaError> {
    Some(SchemaError::Payload(error))
}

/// The code of a value that is not of this type.
fn misfit(kind: Kind, text: &str) -> Option<Code> {
    let first = text.as_bytes().first().copied().unwrap_or_default();
    let is_number = first == b'-' || first.is_ascii_digit();
    let (fits, code) = match kind {
        Kind::Object => (first == b'{', Code::NotAnObject),
        Kind::Array => (first == b'[', Code::NotAnArray),
        Kind::String => (first == b'"', Code::NotAString),
        Kind::Boolean => (matches!(first, b't' | b'f'), Code::NotABoolean),
        Kind::Null => (first == b'n', Code::NotNull),
        Kind::Number => (is_number, Code::NotANumber),
        Kind::Integer => {
            let number = Number::parse(text).filter(|_| is_number);
            (
                number.is_some_and(|number| number.is_whole()),
                Code::NotAnInteger,
            )
        }
    };
    (!fits).then_some(code)
}
