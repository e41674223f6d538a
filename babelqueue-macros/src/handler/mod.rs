//! `#[babel_handler]`.

use proc_macro2::TokenStream;

mod expand;
mod lifetimes;
mod model;
mod parse;

/// Expands the attribute. The fn itself is handed on as it came, whatever happens, so that a
/// mistake gives one error and an editor can still complete within the body.
pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    let function = match parse::function(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = error.to_compile_error();
            return quote::quote!(#item #error);
        }
    };
    let (model, errors) = model::Model::of(options, &function);
    let generated = if model.is_method || model.is_twice || model.krate.is_missing() {
        TokenStream::new()
    } else if errors.is_empty() {
        expand::handler(&model)
    } else {
        expand::stub(&model)
    };
    let errors = errors.into_tokens();
    quote::quote!(#item #generated #errors)
}
