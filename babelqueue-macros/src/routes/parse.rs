//! The list of handlers, as written.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, Meta, Path, Token, Visibility, parenthesized, token};

use crate::crate_path::CratePath;

/// `($crate) [pub struct Name;] entry, entry, …`
pub(super) struct List {
    pub(super) krate: CratePath,
    pub(super) name: Option<Name>,
    pub(super) entries: Vec<Entry>,
}

/// A router that is a struct of its own.
pub(super) struct Name {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) ident: Ident,
}

/// One handler's path.
pub(super) struct Entry {
    /// The conditions of its `#[cfg(…)]`s.
    pub(super) conditions: Vec<TokenStream>,
    pub(super) path: Path,
}

impl Entry {
    /// The path as it was written.
    pub(super) fn listed(&self) -> String {
        let leading = if self.path.leading_colon.is_some() {
            "::"
        } else {
            ""
        };
        let segments = self.path.segments.iter();
        let names: Vec<_> = segments
            .map(|segment| segment.ident.unraw().to_string())
            .collect();
        format!("{leading}{}", names.join("::"))
    }
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        parenthesized!(content in input);
        let krate = CratePath::verbatim(content.parse()?);
        let name = named(input).then(|| input.parse()).transpose()?;
        let mut entries = Vec::new();
        while !input.is_empty() {
            entries.push(input.parse()?);
            if input.is_empty() {
                break;
            }
            if !input.peek(Token![,]) {
                return Err(input.error("handlers are separated by commas"));
            }
            input.parse::<Token![,]>()?;
        }
        Ok(Self {
            krate,
            name,
            entries,
        })
    }
}

/// Whether a struct's name comes first.
fn named(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.call(Attribute::parse_outer).is_ok()
        && ahead.parse::<Visibility>().is_ok()
        && ahead.peek(Token![struct])
}

impl Parse for Name {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![struct]>()?;
        let ident = input.parse()?;
        if !input.peek(Token![;]) {
            return Err(input.error("a named router is `struct Name;` and then the handlers"));
        }
        input.parse::<Token![;]>()?;
        // rustfmt takes the struct for the first entry of the list and adds a comma.
        input.parse::<Option<Token![,]>>()?;
        Ok(Self {
            attributes,
            visibility,
            ident,
        })
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut conditions = Vec::new();
        for attribute in input.call(Attribute::parse_outer)? {
            match &attribute.meta {
                Meta::List(list) if list.path.is_ident("cfg") => {
                    conditions.push(list.tokens.clone());
                }
                _ => {
                    let message = "an entry takes no attribute but `#[cfg(…)]`";
                    return Err(Error::new_spanned(&attribute, message));
                }
            }
        }
        let ahead = input.fork();
        // What may follow a path and make it something else: a call, a macro, a struct.
        let is_more = |input: ParseStream<'_>| {
            input.peek(token::Paren) || input.peek(token::Brace) || input.peek(Token![!])
        };
        let path = match input.call(Path::parse_mod_style) {
            Ok(path) if !is_more(input) => path,
            _ => {
                let found = ahead.parse::<proc_macro2::TokenTree>()?;
                let message = "an entry is the path of a handler, such as `orders::created`";
                return Err(Error::new_spanned(found, message));
            }
        };
        Ok(Self { conditions, path })
    }
}
