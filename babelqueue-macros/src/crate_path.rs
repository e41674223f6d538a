//! Where the generated code finds the library: where the option `crate` says, else under the
//! name that the compiler was given for it, else at `::babelqueue`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Error, Ident, Path};

use crate::diagnostics::Errors;

/// The path in front of `__private`, with every token at the call site.
#[derive(Clone)]
pub(crate) struct CratePath {
    tokens: TokenStream,
    is_missing: bool,
}

impl CratePath {
    /// `attribute` is the one that takes the option, for the message that asks for it.
    pub(crate) fn new(option: Option<&Path>, attribute: &str, errors: &mut Errors) -> Self {
        if let Some(path) = option {
            return Self::verbatim(path.to_token_stream());
        }
        let (name, is_missing) = match find(std::env::args()) {
            Library::Usual => ("babelqueue".to_owned(), false),
            Library::Renamed(name) => (name, false),
            Library::Missing => ("babelqueue".to_owned(), true),
        };
        if is_missing {
            errors.push(Error::new(
                Span::call_site(),
                format!(
                    "this crate does not depend on babelqueue itself: say where it is found with \
                     `#[{attribute}(crate = \"path::to::babelqueue\")]`"
                ),
            ));
        }
        let name = Ident::new(&name, Span::call_site());
        Self {
            tokens: quote!(::#name),
            is_missing,
        }
    }

    /// As handed over by the library's own `macro_rules!`, untouched: it holds `$crate`.
    pub(crate) fn verbatim(tokens: TokenStream) -> Self {
        Self {
            tokens,
            is_missing: false,
        }
    }

    /// Nothing can be generated; the error says what to write.
    pub(crate) fn is_missing(&self) -> bool {
        self.is_missing
    }
}

impl ToTokens for CratePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

#[derive(Debug, PartialEq)]
enum Library {
    Usual,
    Renamed(String),
    Missing,
}

/// Looks for the library on the compiler's own command line, where a renamed dependency reads
/// `--extern bq=…/libbabelqueue-1234.rmeta`. Where the macros do not run inside such a compiler
/// (an editor's server), nothing is known, and the library is taken to be where it usually is.
fn find(args: impl Iterator<Item = String>) -> Library {
    let mut is_compiler = false;
    let mut previous = String::new();
    let mut found = Library::Missing;
    for arg in args {
        let is_named = previous == "--crate-name" && arg == "babelqueue";
        if is_named || arg.starts_with('@') {
            return Library::Usual;
        }
        let is_extern = previous == "--extern" || arg.starts_with("--extern=");
        is_compiler |= is_extern;
        if is_extern {
            match dependency(arg.strip_prefix("--extern=").unwrap_or(&arg)) {
                Some("babelqueue") => return Library::Usual,
                Some(name) => found = Library::Renamed(name.to_owned()),
                None => {}
            }
        }
        previous = arg;
    }
    if is_compiler { found } else { Library::Usual }
}

/// The name of a dependency that is the library: `bq=…/libbabelqueue-1234.rmeta`, with options in
/// front of the name at times (`priv:bq=…`).
fn dependency(arg: &str) -> Option<&str> {
    let (name, file) = arg.split_once('=').unwrap_or((arg, ""));
    let name = name.rsplit(':').next().unwrap_or(name);
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let is_library = file
        .strip_prefix("libbabelqueue")
        .is_some_and(|rest| rest.starts_with('-') || rest.starts_with('.'));
    (name == "babelqueue" || (is_library && syn::parse_str::<Ident>(name).is_ok())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Library, find};

    fn of(args: &[&str]) -> Library {
        find(args.iter().map(|&arg| arg.to_owned()))
    }

    #[test]
    fn finds_the_name_on_the_command_line() {
        let renamed = Library::Renamed("bq".to_owned());
        let bq = "bq=target/debug/deps/libbabelqueue-0a1b.rmeta";
        let usual = "babelqueue=target/debug/deps/libbabelqueue-0a1b.rmeta";
        assert_eq!(of(&["rustc", "--extern", bq]), renamed);
        assert_eq!(of(&["rustc", &format!("--extern=priv:{bq}")]), renamed);
        assert_eq!(of(&["rustc", "--extern", usual]), Library::Usual);
        assert_eq!(
            of(&["rustc", "--extern", bq, "--extern", usual]),
            Library::Usual
        );
        assert_eq!(of(&["rustc", "--extern", "babelqueue"]), Library::Usual);
        assert_eq!(
            of(&["rustc", "--crate-name", "babelqueue", "--extern", "x=y"]),
            Library::Usual
        );
    }

    #[test]
    fn a_compiler_without_it_is_told_so_and_nothing_else_is() {
        let macros = "macros=x/libbabelqueue_macros-0a1b.so";
        assert_eq!(of(&["rustc", "--extern", macros]), Library::Missing);
        assert_eq!(of(&["rustc", "@arguments"]), Library::Usual);
        assert_eq!(of(&["rust-analyzer-proc-macro-srv"]), Library::Usual);
    }
}
