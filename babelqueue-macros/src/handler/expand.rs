//! The code beside a handler: a type of its name, and what that type knows and does.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, Lifetime, Type};

use super::lifetimes;
use super::model::Model;

pub(super) fn handler(model: &Model<'_>) -> TokenStream {
    let item = item(model);
    let info = info(model);
    let call = call(model);
    let check = model.state.as_ref().map(|state| state_check(model, state));
    quote!(#item #info #call #check)
}

/// Stands for the handler beside an error: no router counts it or complains of it.
pub(super) fn stub(model: &Model<'_>) -> TokenStream {
    let Model {
        krate, ident, cfgs, ..
    } = model;
    let item = item(model);
    let name = type_name(ident);
    let text = ident.unraw().to_string();
    quote! {
        #item
        #(#cfgs)*
        #[automatically_derived]
        impl #krate::__private::HandlerInfo for #name {
            const NAME: &'static ::core::primitive::str = #text;
            const URN: ::core::option::Option<&'static ::core::primitive::str> =
                ::core::option::Option::None;
            const ALIASES: &'static [&'static ::core::primitive::str] = &[];
            const FALLBACK: ::core::primitive::bool = false;
            const PRESENT: ::core::primitive::bool = false;
        }
        #(#cfgs)*
        #[automatically_derived]
        impl<__BabelState> #krate::__private::Handler<__BabelState> for #name
        where
            __BabelState: ::core::marker::Sync,
        {
            async fn call(
                babel_input: #krate::__private::Input<'_>,
                _: &__BabelState,
            ) -> #krate::__private::HandlerResult {
                #krate::__private::absent(babel_input)
            }
        }
    }
}

/// The type lives beside the fn, in the other namespace; braces keep it out of the fn's own. Its
/// name is made at the call site, so that no lint of the user's looks at it.
fn type_name(ident: &Ident) -> Ident {
    if ident == "gen" {
        // A plain name to the user's edition, a keyword to this crate's.
        return Ident::new_raw("gen", Span::call_site());
    }
    let mut name = ident.clone();
    name.set_span(Span::call_site());
    name
}

fn item(model: &Model<'_>) -> TokenStream {
    let Model {
        ident,
        visibility,
        cfgs,
        ..
    } = model;
    let name = type_name(ident);
    let text = format!("The handler `{}`, as a router lists it.", ident.unraw());
    quote! {
        #(#cfgs)*
        #[doc = #text]
        #[doc(hidden)]
        #[non_exhaustive]
        #visibility struct #name {}
    }
}

fn info(model: &Model<'_>) -> TokenStream {
    let Model {
        krate,
        ident,
        cfgs,
        fallback,
        ..
    } = model;
    let name = type_name(ident);
    let text = ident.unraw().to_string();
    let (urn, aliases) = match &model.payload {
        Some(payload) if !fallback => {
            let payload = in_expression(payload);
            let probe = format_ident!(
                "{}",
                if model.batch.is_some() {
                    "BatchProbe"
                } else {
                    "Probe"
                }
            );
            // Asked, not required: a payload that is no message has its error in the body.
            let ask = |constant: &str| {
                let constant = format_ident!("{constant}");
                quote! {{
                    use #krate::__private::NoMessage as _;
                    #krate::__private::#probe::<#payload>::#constant
                }}
            };
            (ask("BABEL_URN"), ask("BABEL_ALIASES"))
        }
        _ => (quote!(::core::option::Option::None), quote!(&[])),
    };
    let batch = model.batch.as_ref().map(|batch| {
        let per_attribute = match &batch.per_attribute {
            Some(name) => quote!(::core::option::Option::Some(#name)),
            None => quote!(::core::option::Option::None),
        };
        quote! {
            const BATCH: ::core::option::Option<#krate::__private::BatchRule> =
                ::core::option::Option::Some(#krate::__private::BatchRule::new(#per_attribute));
        }
    });
    let allows = &model.allows;
    quote! {
        #(#cfgs)*
        #[automatically_derived]
        #(#allows)*
        impl #krate::__private::HandlerInfo for #name {
            const NAME: &'static ::core::primitive::str = #text;
            const URN: ::core::option::Option<&'static ::core::primitive::str> = #urn;
            const ALIASES: &'static [&'static ::core::primitive::str] = #aliases;
            const FALLBACK: ::core::primitive::bool = #fallback;
            const PRESENT: ::core::primitive::bool = true;
            #batch
        }
    }
}

fn call(model: &Model<'_>) -> TokenStream {
    let Model {
        krate,
        ident,
        cfgs,
        payload,
        extractors,
        ..
    } = model;
    let name = type_name(ident);
    let lifetime = lifetimes::delivery(Span::call_site());
    let input = local("babel_input", Span::call_site());
    let given = local("babel_given", Span::call_site());
    let state = local("babel_state", Span::call_site());
    let (source, take) = if model.batch.is_some() {
        (format_ident!("FromBatch"), format_ident!("from_batch"))
    } else {
        (
            format_ident!("FromDelivery"),
            format_ident!("from_delivery"),
        )
    };
    let bounds = extractors
        .iter()
        .map(|ty| quote!(#ty: #krate::__private::#source<#lifetime, __BabelState>));
    let names: Vec<Ident> = (0..=extractors.len())
        .map(|i| local(&format!("babel_argument{i}"), Span::call_site()))
        .collect();
    let first = payload
        .as_ref()
        .map(|ty| first_argument(model, ty, &names[0], &given));
    // What the arguments are taken from, and how the answer leaves.
    let (give, taken_from) = if model.batch.is_some() {
        (
            quote!(let #given = #input.all();),
            quote!(#given.deliveries()),
        )
    } else {
        let give = quote! {
            let #given = match #input.one() {
                ::core::result::Result::Ok(babel_value) => babel_value,
                ::core::result::Result::Err(babel_error) => {
                    return ::core::result::Result::Err(babel_error);
                }
            };
        };
        (give, quote!(#given))
    };
    let others = extractors.iter().zip(&names[1..]).map(|(ty, name)| {
        quote! {
            let #name = match <#ty as #krate::__private::#source<#lifetime, __BabelState>>::#take(
                #taken_from, #state,
            ) {
                ::core::result::Result::Ok(babel_value) => babel_value,
                ::core::result::Result::Err(babel_rejection) => {
                    return ::core::result::Result::Err(#krate::__private::rejected(babel_rejection));
                }
            };
        }
    });
    let span = model
        .output
        .as_ref()
        .map_or_else(Span::call_site, Spanned::span);
    let answer = local("babel_answer", span);
    // The type is not named: a typo in it is told once, at the fn.
    let convert = quote_spanned! {Span::call_site().located_at(span)=>
        #krate::__private::into_outcome(#answer)
    };
    let convert = match &model.batch {
        Some(_) => quote!(#given.answer(#convert)),
        None => convert,
    };
    let allows = &model.allows;
    quote! {
        #(#cfgs)*
        #[automatically_derived]
        #(#allows)*
        impl<__BabelState> #krate::__private::Handler<__BabelState> for #name
        where
            __BabelState: #krate::__private::SharedState,
            #(for<#lifetime> #bounds,)*
        {
            fn call<#lifetime>(
                #input: #krate::__private::Input<#lifetime>,
                #state: &#lifetime __BabelState,
            ) -> impl ::core::future::Future<Output = #krate::__private::HandlerResult>
                   + ::core::marker::Send
                   + #lifetime {
                async move {
                    let _ = #state;
                    #give
                    #first
                    #(#others)*
                    let #answer = #ident(#(#names),*).await;
                    #convert
                }
            }
        }
    }
}

fn first_argument(model: &Model<'_>, ty: &Type, name: &Ident, delivery: &Ident) -> TokenStream {
    let krate = &model.krate;
    let at_type = Span::call_site().located_at(ty.span());
    let ty = in_expression(ty);
    if model.fallback {
        let take = quote_spanned!(at_type=> #krate::__private::fallback::<#ty>);
        return quote!(let #name = #take(#delivery););
    }
    if model.batch.is_some() {
        // Each message that has no payload has failed alone.
        let gather = quote_spanned!(at_type=> #krate::__private::gather::<#ty>);
        return quote! {
            let #name = match #gather(&#delivery) {
                ::core::option::Option::Some(babel_batch) => babel_batch,
                ::core::option::Option::None => {
                    return #delivery.answer(#krate::__private::into_outcome(()));
                }
            };
        };
    }
    let decode = quote_spanned!(at_type=> #krate::__private::payload::<#ty>);
    quote! {
        let #name = match #decode(#delivery) {
            ::core::result::Result::Ok(babel_value) => babel_value,
            ::core::result::Result::Err(babel_error) => {
                return ::core::result::Result::Err(babel_error);
            }
        };
    }
}

/// With the state pinned, what it lacks is reported here, at the argument.
fn state_check(model: &Model<'_>, state: &Type) -> TokenStream {
    let Model {
        krate,
        cfgs,
        extractors,
        ..
    } = model;
    let lifetime = lifetimes::delivery(Span::call_site());
    let offers = if model.batch.is_some() {
        format_ident!("state_offers_batch")
    } else {
        format_ident!("state_offers")
    };
    let checks = extractors.iter().map(|ty| {
        let span = Span::call_site().located_at(ty.span());
        quote_spanned! {span=>
            #krate::__private::#offers::<#lifetime, #state, #ty>();
        }
    });
    quote! {
        #(#cfgs)*
        const _: () = {
            fn check<#lifetime>() {
                #(#checks)*
            }
            let _ = check;
        };
    }
}

/// A local of the generated code, which no name of the user's can meet.
fn local(name: &str, span: Span) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(span))
}

/// The type as an expression may name it: its lifetimes are inferred there.
fn in_expression(ty: &Type) -> TokenStream {
    struct Infer;
    impl syn::visit_mut::VisitMut for Infer {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if *lifetime == lifetimes::delivery(lifetime.span()) {
                *lifetime = Lifetime::new("'_", lifetime.span());
            }
        }
    }
    let mut ty = ty.clone();
    syn::visit_mut::VisitMut::visit_type_mut(&mut Infer, &mut ty);
    ty.to_token_stream()
}
