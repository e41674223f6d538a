//! `Router::from_handlers![…]`.

use proc_macro2::TokenStream;

mod expand;
mod parse;

/// Expands a list of handlers: to a block with the router as its value, or, when the list starts
/// with a struct's name, to that struct.
pub(crate) fn from_handlers(input: TokenStream) -> TokenStream {
    match syn::parse2::<parse::List>(input) {
        Ok(list) => expand::router(&list),
        Err(error) => error.to_compile_error(),
    }
}
