//! Values of options. Under `macro_rules!` a fragment arrives in an invisible group, which is
//! looked through.

use syn::parse::ParseStream;
use syn::{Error, Expr, ExprLit, Lit, LitStr, Path, Type};

/// The string literal that an attribute's value must be; `what` goes into the message.
pub(crate) fn string(value: &Expr, what: &str) -> syn::Result<LitStr> {
    match value {
        Expr::Group(group) => string(&group.expr, what),
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Ok(text.clone()),
        other => Err(Error::new_spanned(
            other,
            format!("{what} is a string literal"),
        )),
    }
}

/// Parses `= "…"` behind an option's name.
pub(crate) fn string_value(input: ParseStream<'_>, what: &str) -> syn::Result<LitStr> {
    if !input.peek(syn::Token![=]) {
        return Err(input.error(format!("{what} needs a value: write `{what} = \"…\"`")));
    }
    input.parse::<syn::Token![=]>()?;
    string(&input.parse()?, what)
}

/// Parses `= "path"` behind `crate`.
pub(crate) fn crate_value(input: ParseStream<'_>) -> syn::Result<Path> {
    let text = string_value(input, "crate")?;
    text.parse_with(Path::parse_mod_style)
        .map_err(|_| Error::new_spanned(&text, "`crate` is the path of babelqueue, such as \"bq\""))
}

/// The type within the invisible groups and parentheses around it.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        ty => ty,
    }
}
