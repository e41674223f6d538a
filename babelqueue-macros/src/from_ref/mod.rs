//! `#[derive(FromRef)]`: one impl for each field of a state.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Path};

use crate::crate_path::CratePath;
use crate::diagnostics::Errors;
use crate::literal;
use crate::message::{empty_list, unknown};

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let crate_option = crate_option(&input.attrs, &mut errors);
    let krate = CratePath::new(crate_option.as_ref(), "babel", &mut errors);
    if krate.is_missing() {
        return errors.into_tokens();
    }
    let state = &input.ident;
    if !input.generics.params.is_empty() {
        errors.push(Error::new_spanned(
            &input.generics,
            "`FromRef` is not derived for a generic state: implement it by hand",
        ));
        return errors.into_tokens();
    }
    let Data::Struct(data) = &input.data else {
        errors.push(Error::new_spanned(
            state,
            "`FromRef` is derived for a struct",
        ));
        return errors.into_tokens();
    };
    let allow = crate::message::allow_deprecated(&input.attrs);
    let mut seen: Vec<String> = Vec::new();
    let mut impls = TokenStream::new();
    for (field, member) in data.fields.iter().zip(data.fields.members()) {
        if skipped(&field.attrs, &mut errors) {
            continue;
        }
        let ty = &field.ty;
        let spelled = ty.to_token_stream().to_string();
        if seen.contains(&spelled) {
            errors.push(Error::new_spanned(
                ty,
                "two fields have this type, and `State<…>` could mean either: put \
                 `#[babel(skip)]` on one of them, or give it a type of its own",
            ));
            continue;
        }
        seen.push(spelled);
        let span = Span::call_site().located_at(ty.span());
        let clone = quote_spanned!(span=> ::core::clone::Clone::clone(&babel_state.#member));
        impls.extend(quote! {
            #[automatically_derived]
            #allow
            impl #krate::__private::FromRef<#state> for #ty {
                fn from_ref(babel_state: &#state) -> Self {
                    #clone
                }
            }
        });
    }
    let errors = errors.into_tokens();
    quote!(#impls #errors)
}

fn crate_option(attributes: &[Attribute], errors: &mut Errors) -> Option<Path> {
    let mut path = None;
    options(attributes, errors, |meta| {
        if meta.path.is_ident("crate") {
            return literal::once(&mut path, literal::crate_value(&meta)?, &meta, "crate");
        }
        // A struct that is a message and a state at once has the message's options too.
        if meta.path.is_ident("schema") {
            return Ok(());
        }
        if meta.path.is_ident("alias") {
            return literal::string_value(&meta, "alias").map(drop);
        }
        Err(unknown(&meta.path, "of a state", &["crate"]))
    });
    path
}

fn skipped(attributes: &[Attribute], errors: &mut Errors) -> bool {
    let mut skipped = false;
    options(attributes, errors, |meta| {
        if meta.path.is_ident("skip") {
            skipped = true;
            return literal::no_value(&meta, "skip");
        }
        if meta.path.is_ident("group_id") || meta.path.is_ident("dedup_id") {
            return Ok(());
        }
        Err(unknown(&meta.path, "of a part of the state", &["skip"]))
    });
    skipped
}

fn options(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut take: impl FnMut(ParseNestedMeta<'_>) -> syn::Result<()>,
) {
    for attribute in attributes {
        if attribute.path().is_ident("babel") {
            let parsed = attribute.parse_nested_meta(&mut take);
            errors.ok(parsed.map_err(|error| empty_list(attribute, error)));
        }
    }
}
