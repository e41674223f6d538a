//! The procedural macros of `babelqueue`. Entry points only.
use proc_macro::TokenStream;

/// Stub.
#[proc_macro_derive(BabelMessage, attributes(urn, babel))]
pub fn message(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Stub.
#[proc_macro_derive(FromRef, attributes(babel))]
pub fn from_ref(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Stub.
#[proc_macro_attribute]
pub fn babel_handler(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// Stub.
#[proc_macro]
pub fn from_handlers(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
