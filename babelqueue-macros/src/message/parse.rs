//! The attributes of a message: `#[urn = "…"]` and `#[babel(…)]`, as written.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Error, LitStr, Meta, Path};

use crate::diagnostics::{Errors, unknown_option};
use crate::literal;

/// What stands on the struct.
#[derive(Default)]
pub(super) struct StructAttributes {
    pub(super) urn: Option<LitStr>,
    /// A `#[urn]` is there, however wrong.
    pub(super) urn_seen: bool,
    pub(super) aliases: Vec<LitStr>,
    pub(super) schema: Option<Span>,
    pub(super) crate_path: Option<Path>,
}

/// What stands on one field.
#[derive(Default)]
pub(super) struct FieldAttributes {
    pub(super) group_id: Option<Span>,
    pub(super) dedup_id: Option<Span>,
}

pub(super) fn on_struct(attributes: &[Attribute], errors: &mut Errors) -> StructAttributes {
    let mut found = StructAttributes::default();
    for attribute in attributes {
        if attribute.path().is_ident("urn") {
            let again = std::mem::replace(&mut found.urn_seen, true);
            match urn(attribute) {
                _ if again => errors.push(Error::new_spanned(
                    attribute,
                    "a message has one `#[urn]`; an older one that is still accepted is \
                     `#[babel(alias = \"…\")]`",
                )),
                Ok(urn) => found.urn = Some(urn),
                Err(error) => errors.push(error),
            }
        } else if attribute.path().is_ident("babel") {
            let parsed = attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("alias") {
                    found.aliases.push(literal::string_value(&meta, "alias")?);
                } else if meta.path.is_ident("schema") {
                    literal::no_value(&meta, "schema")?;
                    literal::once(&mut found.schema, meta.path.span(), &meta, "schema")?;
                } else if meta.path.is_ident("crate") {
                    let path = literal::crate_value(&meta)?;
                    literal::once(&mut found.crate_path, path, &meta, "crate")?;
                } else if meta.path.is_ident("group_id") || meta.path.is_ident("dedup_id") {
                    return Err(meta.error("this option goes on a field"));
                } else {
                    let known = ["schema", "crate", "alias"];
                    return Err(unknown(&meta.path, "of a message", &known));
                }
                Ok(())
            });
            errors.ok(parsed.map_err(|error| empty_list(attribute, error)));
        }
    }
    found
}

pub(super) fn on_field(attributes: &[Attribute], errors: &mut Errors) -> FieldAttributes {
    let mut found = FieldAttributes::default();
    for attribute in attributes {
        if attribute.path().is_ident("urn") {
            errors.push(Error::new_spanned(attribute, "`#[urn]` goes on the struct"));
        }
        if !attribute.path().is_ident("babel") {
            continue;
        }
        let parsed = attribute.parse_nested_meta(|meta| {
            let span = meta.path.span();
            if meta.path.is_ident("group_id") {
                literal::no_value(&meta, "group_id")?;
                literal::once(&mut found.group_id, span, &meta, "group_id")?;
            } else if meta.path.is_ident("dedup_id") {
                literal::no_value(&meta, "dedup_id")?;
                literal::once(&mut found.dedup_id, span, &meta, "dedup_id")?;
            } else if ["schema", "crate", "alias"]
                .iter()
                .any(|name| meta.path.is_ident(name))
            {
                return Err(meta.error("this option goes on the struct"));
            } else {
                return Err(unknown(&meta.path, "of a field", &["group_id", "dedup_id"]));
            }
            Ok(())
        });
        errors.ok(parsed.map_err(|error| empty_list(attribute, error)));
    }
    found
}

fn urn(attribute: &Attribute) -> syn::Result<LitStr> {
    match &attribute.meta {
        Meta::NameValue(pair) => literal::string(&pair.value, "a URN"),
        other => Err(Error::new_spanned(
            other,
            "write the URN as `#[urn = \"urn:<nid>:<nss>\"]`",
        )),
    }
}

/// `#[babel]` and `#[babel = …]` say what to write.
pub(crate) fn empty_list(attribute: &Attribute, error: Error) -> Error {
    match &attribute.meta {
        Meta::List(_) => error,
        other => Error::new_spanned(other, "write the options in parentheses: `#[babel(…)]`"),
    }
}

pub(crate) fn unknown(path: &Path, place: &str, known: &[&str]) -> Error {
    let segments: Vec<_> = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    Error::new_spanned(path, unknown_option(place, &segments.join("::"), known))
}
