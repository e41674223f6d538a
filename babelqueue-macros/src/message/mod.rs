//! `#[derive(BabelMessage)]`.

use proc_macro2::TokenStream;
use syn::DeriveInput;

mod expand;
mod model;
mod parse;
mod urn;

pub(crate) use expand::allow_deprecated;
pub(crate) use parse::{empty_list, unknown};

/// Expands the derive. A mistake leaves a stub of the impl beside its error, so that the rest of
/// the crate does not complain as well.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let (model, errors) = model::Model::of(&input);
    let implementation = if model.krate.is_missing() {
        TokenStream::new()
    } else if errors.is_empty() {
        expand::message(&model)
    } else {
        expand::stub(&model)
    };
    let errors = errors.into_tokens();
    quote::quote!(#implementation #errors)
}
