//! The checked form of a message.

use proc_macro2::Span;
use syn::visit_mut::{VisitMut, visit_type_mut, visit_type_reference_mut};
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, Generics, Ident, LitStr, Member, Type,
    TypeReference,
};

use super::parse::{self, StructAttributes};
use super::urn;
use crate::crate_path::CratePath;
use crate::diagnostics::Errors;
use crate::literal;

/// What the expansion needs to know.
pub(super) struct Model<'a> {
    pub(super) krate: CratePath,
    pub(super) ident: &'a Ident,
    pub(super) generics: &'a Generics,
    /// `None` only beside an error.
    pub(super) urn: Option<LitStr>,
    pub(super) aliases: Vec<LitStr>,
    pub(super) schema: Option<Span>,
    pub(super) is_unit: bool,
    pub(super) group_id: Option<Id<'a>>,
    pub(super) dedup_id: Option<Id<'a>>,
}

/// A field that is an id.
pub(super) struct Id<'a> {
    pub(super) member: Member,
    pub(super) ty: &'a Type,
}

impl<'a> Model<'a> {
    pub(super) fn of(input: &'a DeriveInput) -> (Self, Errors) {
        let mut errors = Errors::default();
        let attributes = parse::on_struct(&input.attrs, &mut errors);
        check_urns(&attributes, &input.ident, &mut errors);
        let mut model = Self {
            krate: CratePath::new(attributes.crate_path.as_ref(), "babel", &mut errors),
            ident: &input.ident,
            generics: &input.generics,
            urn: attributes.urn,
            aliases: attributes.aliases,
            schema: attributes.schema,
            is_unit: false,
            group_id: None,
            dedup_id: None,
        };
        match &input.data {
            Data::Struct(data) => model.take_fields(&input.attrs, &data.fields, &mut errors),
            Data::Enum(data) => errors.push(Error::new_spanned(
                data.enum_token,
                "an enum is not a message: make it a field of a struct, or one struct per variant",
            )),
            Data::Union(data) => {
                errors.push(Error::new_spanned(
                    data.union_token,
                    "a union is not a message",
                ));
            }
        }
        (model, errors)
    }

    fn take_fields(&mut self, attributes: &[Attribute], fields: &'a Fields, errors: &mut Errors) {
        match fields {
            Fields::Unit => self.is_unit = !is_converted(attributes),
            Fields::Unnamed(fields) if fields.unnamed.len() != 1 && !is_converted(attributes) => {
                errors.push(Error::new_spanned(
                    fields,
                    "serde writes a tuple struct as an array, and `data` is an object: name the \
                     fields",
                ));
            }
            Fields::Unnamed(_) | Fields::Named(_) => {}
        }
        for (field, member) in fields.iter().zip(fields.members()) {
            let found = parse::on_field(&field.attrs, errors);
            let mut claim = |slot: &mut Option<Id<'a>>, span: Option<Span>, what: &str| {
                let Some(span) = span else { return };
                if slot.is_some() {
                    errors.push(Error::new(
                        span,
                        format!("a message has one `{what}` field"),
                    ));
                }
                *slot = Some(Id {
                    member: member.clone(),
                    ty: &field.ty,
                });
            };
            claim(&mut self.group_id, found.group_id, "group_id");
            claim(&mut self.dedup_id, found.dedup_id, "dedup_id");
            refuse_borrowed_str(field, errors);
        }
    }
}

fn check_urns(attributes: &StructAttributes, ident: &Ident, errors: &mut Errors) {
    if !attributes.urn_seen {
        errors.push(Error::new_spanned(
            ident,
            format!("`{ident}` has no URN: add `#[urn = \"urn:<nid>:<nss>\"]` below the derive"),
        ));
    }
    let mut seen: Vec<String> = Vec::new();
    for literal in attributes.urn.iter().chain(&attributes.aliases) {
        let text = literal.value();
        if let Err(reason) = urn::check(&text) {
            errors.push(Error::new_spanned(literal, reason));
        } else if seen.contains(&text) {
            errors.push(Error::new_spanned(literal, "this URN is given twice"));
        }
        seen.push(text);
    }
}

/// Whether serde writes the type through another one, so that its own fields say nothing of the
/// JSON: `#[serde(into = …)]`, `from`, `try_from`.
fn is_converted(attributes: &[Attribute]) -> bool {
    serde_options(attributes, &["into", "from", "try_from"])
}

fn serde_options(attributes: &[Attribute], names: &[&str]) -> bool {
    let mut found = false;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"))
    {
        // What serde itself would refuse is left to serde.
        let _ = attribute.parse_nested_meta(|meta| {
            found |= names.iter().any(|name| meta.path.is_ident(name));
            if meta.input.peek(syn::token::Paren) {
                meta.parse_nested_meta(|inner| {
                    if inner.input.peek(syn::Token![=]) {
                        inner.value()?.parse::<syn::Expr>()?;
                    }
                    Ok(())
                })?;
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
    }
    found
}

/// A `&str` can only be borrowed from text without escapes: the first é written as `\u00e9`
/// would be a payload error in production. Fields that serde does not read itself are let be.
fn refuse_borrowed_str(field: &Field, errors: &mut Errors) {
    let own_way = ["skip", "skip_deserializing", "with", "deserialize_with"];
    if serde_options(&field.attrs, &own_way) {
        return;
    }
    let mut finder = FindStr(None);
    finder.visit_type_mut(&mut field.ty.clone());
    if let Some(reference) = finder.0 {
        errors.push(Error::new_spanned(
            reference,
            "a `&str` cannot hold text that JSON escapes: write \
             `#[serde(borrow)] std::borrow::Cow<'a, str>`, or `String`",
        ));
    }
}

struct FindStr(Option<TypeReference>);

impl VisitMut for FindStr {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        // The arguments of a fn pointer are no fields.
        if !matches!(ty, Type::FnPtr(_)) {
            visit_type_mut(self, ty);
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        match literal::ungrouped(&reference.elem) {
            Type::Path(path) if path.qself.is_none() && path.path.is_ident("str") => {
                self.0.get_or_insert_with(|| reference.clone());
            }
            _ => visit_type_reference_mut(self, reference),
        }
    }
}
