//! The code of a message.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::model::{Id, Model};

pub(super) fn message(model: &Model<'_>) -> TokenStream {
    let Model {
        krate,
        ident,
        generics,
        urn,
        aliases,
        ..
    } = model;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let group_id = id_method(model, "group_id", model.group_id.as_ref());
    let dedup_id = id_method(model, "deduplication_id", model.dedup_id.as_ref());
    let schema = match model.schema {
        // Spanned at the option, so that a type without a schema is reported there.
        Some(span) => {
            let span = Span::call_site().located_at(span);
            quote_spanned!(span=> #krate::__private::require_schema::<Self>())
        }
        None => quote! {{
            use #krate::__private::NoSchema as _;
            #krate::__private::SchemaProbe::<Self>::babel_schema()
        }},
    };
    let allow = &model.allow_deprecated;
    let shape = model.written_as.iter().map(|ty| shape_check(model, ty));
    quote! {
        #(#shape)*
        #[automatically_derived]
        #allow
        impl #impl_generics #krate::__private::BabelMessage for #ident #type_generics #where_clause {
            const URN: &'static ::core::primitive::str = #urn;
            const ALIASES: &'static [&'static ::core::primitive::str] = &[#(#aliases),*];
            #group_id
            #dedup_id
            fn schema() -> ::core::option::Option<#krate::__private::Value> {
                #schema
            }
        }
    }
}

/// A newtype is written as what it wraps, which must not be a number, a string or an array. The
/// wrapped type is asked, not read: an alias of `u8` is found, too.
fn shape_check(model: &Model<'_>, ty: &syn::Type) -> TokenStream {
    let krate = &model.krate;
    let check = quote_spanned! {ty.span()=>
        babel_check_shape(babel_is_object);
    };
    quote! {
        const _: () = {
            use #krate::__private::{NoMessage as _, check_shape as babel_check_shape};
            const babel_is_object: ::core::primitive::bool =
                #krate::__private::Probe::<#ty>::BABEL_IS_OBJECT;
            #check
        };
    }
}

/// The generated code names what it is derived for, which may be deprecated.
pub(crate) fn allow_deprecated(attributes: &[syn::Attribute]) -> Option<TokenStream> {
    let is_deprecated = attributes.iter().any(|a| a.path().is_ident("deprecated"));
    is_deprecated.then(|| quote!(#[allow(deprecated)]))
}

/// Which way applies (`Display`, an `Option` of it, neither) is decided by the field's type.
fn id_method(model: &Model<'_>, method: &str, id: Option<&Id<'_>>) -> Option<TokenStream> {
    let Id { member, ty } = id?;
    let krate = &model.krate;
    let method = syn::Ident::new(method, Span::call_site());
    let span = Span::call_site().located_at(ty.span());
    let call = quote_spanned! {span=>
        #krate::__private::id((&#krate::__private::Key(&self.#member)).babel_key())
    };
    Some(quote! {
        fn #method(&self) -> ::core::option::Option<::std::string::String> {
            use #krate::__private::{KeyOfDisplay as _, KeyOfNeither as _, KeyOfOption as _};
            #call
        }
    })
}

/// Stands for the impl beside an error. The URN is no URN, so that nothing else matches it.
pub(super) fn stub(model: &Model<'_>) -> TokenStream {
    let Model {
        krate,
        ident,
        generics,
        ..
    } = model;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let urn = format!("error in {ident}");
    let allow = &model.allow_deprecated;
    quote! {
        #[automatically_derived]
        #allow
        impl #impl_generics #krate::__private::BabelMessage for #ident #type_generics #where_clause {
            const URN: &'static ::core::primitive::str = #urn;
        }
    }
}
