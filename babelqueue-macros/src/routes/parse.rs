//! The list of handlers, as written.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Ident, Meta, Path, Token, Visibility, parenthesized};

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

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        parenthesized!(content in input);
        let krate = CratePath::verbatim(content.parse()?);
        let name = named(input).then(|| input.parse()).transpose()?;
        let entries = Punctuated::<Entry, Token![,]>::parse_terminated(input)?;
        Ok(Self {
            krate,
            name,
            entries: entries.into_iter().collect(),
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
        let path = match input.call(Path::parse_mod_style) {
            Ok(path) if input.is_empty() || input.peek(Token![,]) => path,
            _ => {
                let found = ahead.parse::<proc_macro2::TokenTree>()?;
                let message = "an entry is the path of a handler, such as `orders::created`";
                return Err(Error::new_spanned(found, message));
            }
        };
        Ok(Self { conditions, path })
    }
}
