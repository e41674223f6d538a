//! The checked form of a message.

use proc_macro2::{Span, TokenStream};
use syn::visit_mut::{VisitMut, visit_type_mut, visit_type_reference_mut};
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, Generics, Ident, LitStr, Member, Path,
    Type, TypeReference,
};

use super::expand::allow_deprecated;
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
    /// The one type that serde writes this struct as, to be checked.
    pub(super) written_as: Option<&'a Type>,
    pub(super) allow_deprecated: Option<TokenStream>,
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
            written_as: None,
            allow_deprecated: allow_deprecated(&input.attrs),
            group_id: None,
            dedup_id: None,
        };
        match &input.data {
            Data::Struct(data) => model.take_fields(input, &data.fields, &mut errors),
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

    fn take_fields(&mut self, input: &'a DeriveInput, fields: &'a Fields, errors: &mut Errors) {
        let has = |names: &[&str]| serde_options(&input.attrs, names);
        let (transparent, written, read) = (
            has(&["transparent"]),
            has(&["into"]),
            has(&["from", "try_from"]),
        );
        match fields {
            _ if written => {}
            Fields::Unnamed(fields) if fields.unnamed.len() != 1 && !transparent => {
                errors.push(Error::new_spanned(
                    fields,
                    "serde writes a tuple struct as an array, and `data` is an object: name the \
                     fields",
                ));
            }
            // A type parameter cannot be asked what it is.
            _ if !input.generics.params.is_empty() => {}
            Fields::Unnamed(_) => self.written_as = the_field(fields),
            Fields::Named(_) if transparent => self.written_as = the_field(fields),
            Fields::Named(_) | Fields::Unit => {}
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
            if !read {
                refuse_borrowed_str(field, errors);
            }
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

/// The field that a newtype or a transparent struct is written as.
fn the_field(fields: &Fields) -> Option<&Type> {
    let mut written = fields
        .iter()
        .filter(|field| !serde_options(&field.attrs, &["skip"]));
    written.next().map(|field| &field.ty)
}

/// Whether one of serde's options is given.
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
        // The arguments of a fn pointer are no fields, and nothing is read into a marker.
        match ty {
            Type::FnPtr(_) => {}
            Type::Path(path) if is_named(&path.path, "PhantomData") => {}
            ty => visit_type_mut(self, ty),
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        match literal::ungrouped(&reference.elem) {
            Type::Path(path) if is_named(&path.path, "str") => {
                self.0.get_or_insert_with(|| reference.clone());
            }
            _ => visit_type_reference_mut(self, reference),
        }
    }
}

fn is_named(path: &Path, name: &str) -> bool {
    path.segments
        .last()
        .is_some_and(|segment| segment.ident == name)
}
