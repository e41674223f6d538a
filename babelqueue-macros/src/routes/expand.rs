//! The code of a router: a zero-sized type, its table, and one flat `match`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::parse::List;

pub(super) fn router(list: &List) -> TokenStream {
    match &list.name {
        None => {
            let name = format_ident!("BabelRouter");
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
        .map(|i| format_ident!("BabelHandler{i}"))
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
        quote!(#krate::__private::Entry::of::<#alias>())
    });
    let checks = list
        .entries
        .iter()
        .enumerate()
        .map(|(i, entry)| quote_spanned!(entry.path.span()=> babel_check(&BABEL_TABLE, #i);));
    let checks = (!list.entries.is_empty()).then(|| {
        quote! {
            const _: () = {
                use #krate::__private::check_entry as babel_check;
                #(#checks)*
            };
        }
    });
    let arms = aliases.iter().enumerate().map(|(i, alias)| {
        quote! {
            #i => <#alias as #krate::__private::Handler<BabelState>>::call(delivery, state).await,
        }
    });
    quote! {
        #(#definitions)*
        const BABEL_ENTRIES: &[#krate::__private::Entry] = &[#(#entries),*];
        const BABEL_SLOTS: &[#krate::__private::Slot] = &#krate::__private::Table::index::<
            { #krate::__private::slots_for(BABEL_ENTRIES) },
        >(BABEL_ENTRIES);
        static BABEL_TABLE: #krate::__private::Table =
            #krate::__private::Table::new(BABEL_ENTRIES, BABEL_SLOTS);
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
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #krate::__private::fmt_routes::<Self>(f)
            }
        }
        #[automatically_derived]
        impl #krate::__private::RouteTable for #name {
            const PARTS: #krate::__private::Parts =
                #krate::__private::Parts::List(&BABEL_TABLE);
        }
        #[automatically_derived]
        impl<BabelState> #krate::__private::Routes<BabelState> for #name
        where
            BabelState: #krate::__private::SharedState,
            #(#aliases: #krate::__private::Handler<BabelState>,)*
        {
            async fn dispatch<'babel>(
                handler: ::core::primitive::usize,
                delivery: &'babel #krate::__private::Delivery,
                state: &'babel BabelState,
            ) -> #krate::__private::HandlerResult {
                match handler {
                    #(#arms)*
                    _ => {
                        let _ = state;
                        #krate::__private::absent(delivery)
                    }
                }
            }
        }
    }
}
