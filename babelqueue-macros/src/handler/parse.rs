//! The tokens of a handler: its attributes and signature. The body is not looked at: it may be
//! half written.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, LitStr, Path, Signature, Token, Type, Visibility};

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
    syn::parse2(item.clone()).map_err(|error| match syn::parse2::<Other>(item) {
        Ok(Other) => Error::new(Span::call_site(), "`#[babel_handler]` goes on an async fn"),
        Err(_) => error,
    })
}

/// An item that does not start as a fn does.
struct Other;

impl Parse for Other {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let is_const = input.peek(Token![const]);
        input.parse::<Option<Token![const]>>()?;
        let starts_a_fn = input.peek(Token![fn])
            || input.peek(Token![async])
            || input.peek(Token![unsafe])
            || (input.peek(Token![extern]) && !is_const);
        if starts_a_fn {
            return Err(input.error("a fn"));
        }
        input.parse::<TokenStream>()?;
        Ok(Self)
    }
}

/// What stands in the parentheses of the attribute.
#[derive(Default)]
pub(super) struct Options {
    pub(super) crate_path: Option<Path>,
    pub(super) state: Option<Type>,
    pub(super) fallback: Option<()>,
    pub(super) batch: Option<Path>,
    pub(super) per_attribute: Option<LitStr>,
}

pub(super) fn options(tokens: TokenStream) -> syn::Result<Options> {
    let mut options = Options::default();
    if let Some(TokenTree::Literal(literal)) = tokens.clone().into_iter().next() {
        let message =
            "an option has a name: `batch`, `fallback`, `state = App` or `crate = \"path\"`";
        return Err(Error::new(literal.span(), message));
    }
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("fallback") {
            literal::no_value(&meta, "fallback")?;
            literal::once(&mut options.fallback, (), &meta, "fallback")
        } else if meta.path.is_ident("batch") {
            literal::no_value(&meta, "batch")?;
            literal::once(&mut options.batch, meta.path.clone(), &meta, "batch")
        } else if meta.path.is_ident("per_attribute") {
            let name = literal::string_value(&meta, "per_attribute")?;
            literal::once(&mut options.per_attribute, name, &meta, "per_attribute")
        } else if meta.path.is_ident("state") {
            literal::once(&mut options.state, state(&meta)?, &meta, "state")
        } else if meta.path.is_ident("crate") {
            let path = literal::crate_value(&meta)?;
            literal::once(&mut options.crate_path, path, &meta, "crate")
        } else {
            let known = ["batch", "per_attribute", "fallback", "state", "crate"];
            Err(unknown(&meta.path, "of a handler", &known))
        }
    });
    syn::parse::Parser::parse2(parser, tokens)?;
    Ok(options)
}

/// Parses `= App` behind `state`.
fn state(meta: &ParseNestedMeta<'_>) -> syn::Result<Type> {
    let missing = "`state` is a type: write `state = App`";
    if !meta.input.peek(Token![=]) {
        return Err(meta.error(missing));
    }
    meta.input.parse::<Token![=]>()?;
    if meta.input.is_empty() {
        return Err(meta.error(missing));
    }
    let start = meta.input.fork();
    meta.input.parse().map_err(|_| {
        let found = start
            .parse::<TokenTree>()
            .map_or_else(|_| start.span(), |token| token.span());
        Error::new(found, missing)
    })
}
