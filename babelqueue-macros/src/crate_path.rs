//! Where the generated code finds the library: where the option `crate` says, else under the
//! name that the compiler was given for it, else at `::babelqueue`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Ident, Path};

/// The path in front of `__private`, with every token at the call site.
#[derive(Clone)]
pub(crate) struct CratePath(TokenStream);

impl CratePath {
    pub(crate) fn new(option: Option<&Path>) -> Self {
        if let Some(path) = option {
            return Self(path.to_token_stream());
        }
        let name = renamed(std::env::args()).unwrap_or_else(|| "babelqueue".to_owned());
        let name = Ident::new(&name, Span::call_site());
        Self(quote!(::#name))
    }

    /// As handed over by the library's own `macro_rules!`, untouched: it holds `$crate`.
    pub(crate) fn verbatim(tokens: TokenStream) -> Self {
        Self(tokens)
    }
}

impl ToTokens for CratePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

/// The name under which the compiler's own command line knows the library, when it is not
/// `babelqueue`: `--extern bq=…/libbabelqueue-1234.rmeta`. Where the macros do not run inside
/// such a compiler (an editor's server), nothing is known and nothing is renamed.
fn renamed(args: impl Iterator<Item = String>) -> Option<String> {
    let mut other = None;
    for arg in args {
        let arg = arg.strip_prefix("--extern=").unwrap_or(&arg);
        // `priv:bq=…` and the like carry options in front of the name.
        let Some((name, file)) = arg.split_once('=') else {
            continue;
        };
        let name = name.rsplit(':').next().unwrap_or(name);
        let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let is_library = file
            .strip_prefix("libbabelqueue")
            .is_some_and(|rest| rest.starts_with('-') || rest.starts_with('.'));
        if name == "babelqueue" {
            return None;
        }
        if is_library && syn::parse_str::<Ident>(name).is_ok() {
            other = Some(name.to_owned());
        }
    }
    other
}

#[cfg(test)]
mod tests {
    use super::renamed;

    fn of(args: &[&str]) -> Option<String> {
        renamed(args.iter().map(|&arg| arg.to_owned()))
    }

    #[test]
    fn finds_the_name_on_the_command_line() {
        let library = "target/debug/deps/libbabelqueue-0a1b.rmeta";
        assert_eq!(
            of(&["rustc", "--extern", &format!("bq={library}")]).as_deref(),
            Some("bq")
        );
        assert_eq!(
            of(&[&format!("--extern=priv:bq={library}")]).as_deref(),
            Some("bq")
        );
        assert_eq!(of(&["--extern", &format!("babelqueue={library}")]), None);
        let both = [format!("bq={library}"), format!("babelqueue={library}")];
        assert_eq!(of(&["--extern", &both[0], "--extern", &both[1]]), None);
        assert_eq!(
            of(&["--extern", "macros=x/libbabelqueue_macros-0a1b.so"]),
            None
        );
        assert_eq!(of(&["rust-analyzer-proc-macro-srv"]), None);
    }
}
