//! Values of options. Under `macro_rules!` a fragment arrives in an invisible group, which is
//! looked through.

use syn::meta::ParseNestedMeta;
use syn::{Error, Expr, ExprLit, Lit, LitStr, Path, Token, Type};

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
            format!("{what} is a string literal: put it in quotes"),
        )),
    }
}

/// Parses `= "…"` behind an option's name.
pub(crate) fn string_value(meta: &ParseNestedMeta<'_>, what: &str) -> syn::Result<LitStr> {
    if !meta.input.peek(Token![=]) {
        return Err(meta.error(format!("`{what}` needs a value: write `{what} = \"…\"`")));
    }
    meta.input.parse::<Token![=]>()?;
    string(&meta.input.parse()?, &format!("`{what}`"))
}

/// Sees to it that nothing is behind an option that is set by its name alone.
pub(crate) fn no_value(meta: &ParseNestedMeta<'_>, what: &str) -> syn::Result<()> {
    if meta.input.is_empty() || meta.input.peek(Token![,]) {
        return Ok(());
    }
    Err(meta.error(format!("`{what}` takes no value: write `{what}` alone")))
}

/// Sets an option that may be given once.
pub(crate) fn once<T>(
    option: &mut Option<T>,
    value: T,
    meta: &ParseNestedMeta<'_>,
    what: &str,
) -> syn::Result<()> {
    match option.replace(value) {
        None => Ok(()),
        Some(_) => Err(meta.error(format!("`{what}` is given twice"))),
    }
}

/// Parses `= "path"` behind `crate`.
pub(crate) fn crate_value(meta: &ParseNestedMeta<'_>) -> syn::Result<Path> {
    let text = string_value(meta, "crate")?;
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
