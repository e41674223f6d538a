//! The tokens of a handler: its attributes and signature. The body is not looked at: it may be
//! half written.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Path, Signature, Type, Visibility};

use crate::literal;
use crate::message::unknown;

/// A fn without its body.
pub(super) struct Function {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) signature: Signature,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        let body: TokenStream = input.parse()?;
        if body.is_empty() {
            return Err(Error::new(input.span(), "a handler has a body"));
        }
        Ok(Self {
            attributes,
            visibility,
            signature,
        })
    }
}

pub(super) fn function(item: TokenStream) -> syn::Result<Function> {
    syn::parse2(item.clone()).map_err(|error| {
        let is_function = item.into_iter().any(|token| token.to_string() == "fn");
        if is_function {
            error
        } else {
            Error::new(
                proc_macro2::Span::call_site(),
                "`#[babel_handler]` goes on an async fn",
            )
        }
    })
}

/// What stands in the parentheses of the attribute.
#[derive(Default)]
pub(super) struct Options {
    pub(super) crate_path: Option<Path>,
    pub(super) state: Option<Type>,
    pub(super) fallback: bool,
}

pub(super) fn options(tokens: TokenStream) -> syn::Result<Options> {
    let mut options = Options::default();
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("fallback") {
            options.fallback = true;
        } else if meta.path.is_ident("state") {
            if !meta.input.peek(syn::Token![=]) {
                return Err(meta.error("`state` needs a type: write `state = App`"));
            }
            options.state = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("crate") {
            options.crate_path = Some(literal::crate_value(meta.input)?);
        } else {
            return Err(unknown(
                &meta.path,
                "of a handler",
                &["fallback", "state", "crate"],
            ));
        }
        Ok(())
    });
    syn::parse::Parser::parse2(parser, tokens)?;
    Ok(options)
}
