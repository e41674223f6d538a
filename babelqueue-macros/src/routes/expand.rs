//! The code of a router: a zero-sized type, its table, and one flat `match`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::parse::List;

pub(super) fn router(list: &List) -> TokenStream {
    match &list.name {
        None => {
            let name = format_ident!("__BabelRouter");
            let items = items(list, &name);
            quote!({
                struct #name;
                #items
                #name
            })
        }
        Some(name) => {
            let ident = &name.ident;
            let attributes = &name.attributes;
            let visibility = &name.visibility;
            let items = items(list, ident);
            let docs = attributes
                .iter()
                .all(|attribute| !attribute.path().is_ident("doc"))
                .then(|| {
                    let text = format!("The router `{ident}`.");
                    quote!(#[doc = #text])
                });
            quote! {
                #docs
                #(#attributes)*
                #visibility struct #ident;
                const _: () = { #items };
            }
        }
    }
}

/// Everything but the struct itself. Each entry gets an alias, so that a name that leads nowhere
/// is complained of once.
fn items(list: &List, name: &Ident) -> TokenStream {
    let krate = &list.krate;
    let aliases: Vec<Ident> = (0..list.entries.len())
        .map(|i| format_ident!("__BabelHandler{i}"))
        .collect();
    let definitions = list.entries.iter().zip(&aliases).map(|(entry, alias)| {
        let path = &entry.path;
        let conditions = &entry.conditions;
        if conditions.is_empty() {
            return quote!(type #alias = #path;);
        }
        quote! {
            #[cfg(all(#(#conditions),*))]
            type #alias = #path;
            #[cfg(not(all(#(#conditions),*)))]
            type #alias = #krate::__private::Absent;
        }
    });
    // With the entries' own spans, so that what is wrong with one is said there. Only items are
    // named so: they, unlike locals, are found from everywhere.
    let entries = list.entries.iter().zip(&aliases).map(|(entry, alias)| {
        let mut alias = alias.clone();
        alias.set_span(entry.path.span());
        let listed = entry.listed();
        quote!(#krate::__private::Entry::of::<#alias>(#listed))
    });
    let checks =
        list.entries.iter().enumerate().map(
            |(i, entry)| quote_spanned!(entry.path.span()=> __babel_check(&__BABEL_TABLE, #i);),
        );
    let checks = (!list.entries.is_empty()).then(|| {
        quote! {
            const _: () = {
                use #krate::__private::check_entry as __babel_check;
                #(#checks)*
            };
        }
    });
    let arms = aliases.iter().enumerate().map(|(i, alias)| {
        quote! {
            #i => <#alias as #krate::__private::Handler<__BabelState>>::call(babel_input, babel_state).await,
        }
    });
    quote! {
        #(#definitions)*
        const __BABEL_ENTRIES: &[#krate::__private::Entry] = &[#(#entries),*];
        const __BABEL_SLOTS: &[#krate::__private::Slot] = &#krate::__private::Table::index::<
            { #krate::__private::slots_for(__BABEL_ENTRIES) },
        >(__BABEL_ENTRIES);
        static __BABEL_TABLE: #krate::__private::Table =
            #krate::__private::Table::new(__BABEL_ENTRIES, __BABEL_SLOTS);
        #checks

        #[automatically_derived]
        impl ::core::clone::Clone for #name {
            fn clone(&self) -> Self {
                *self
            }
        }
        #[automatically_derived]
        impl ::core::marker::Copy for #name {}
        #[automatically_derived]
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, babel_f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #krate::__private::fmt_routes::<Self>(babel_f)
            }
        }
        #[automatically_derived]
        impl #krate::__private::RouteTable for #name {
            const PARTS: #krate::__private::Parts =
                #krate::__private::Parts::List(&__BABEL_TABLE);
        }
        #[automatically_derived]
        impl<__BabelState> #krate::__private::Routes<__BabelState> for #name
        where
            __BabelState: #krate::__private::SharedState,
            #(#aliases: #krate::__private::Handler<__BabelState>,)*
        {
            async fn dispatch<'babel>(
                babel_handler: ::core::primitive::usize,
                babel_input: #krate::__private::Input<'babel>,
                babel_state: &'babel __BabelState,
            ) -> #krate::__private::HandlerResult {
                match babel_handler {
                    #(#arms)*
                    _ => {
                        let _ = babel_state;
                        #krate::__private::absent(babel_input)
                    }
                }
            }
        }
    }
}
