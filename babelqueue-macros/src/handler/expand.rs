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
        impl<BabelState> #krate::__private::Handler<BabelState> for #name
        where
            BabelState: ::core::marker::Sync,
        {
            async fn call(
                delivery: &#krate::__private::Delivery,
                _: &BabelState,
            ) -> #krate::__private::HandlerResult {
                #krate::__private::absent(delivery)
            }
        }
    }
}

/// The type lives beside the fn, in the other namespace; braces keep it out of the fn's own. Its
/// name is made at the call site, so that no lint of the user's looks at it.
fn type_name(ident: &Ident) -> Ident {
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
            // Asked, not required: a payload that is no message has its error in the body.
            let ask = |constant: &str| {
                let constant = format_ident!("{constant}");
                quote! {{
                    use #krate::__private::NoMessage as _;
                    #krate::__private::Probe::<#payload>::#constant
                }}
            };
            (ask("URN"), ask("ALIASES"))
        }
        _ => (quote!(::core::option::Option::None), quote!(&[])),
    };
    quote! {
        #(#cfgs)*
        #[automatically_derived]
        impl #krate::__private::HandlerInfo for #name {
            const NAME: &'static ::core::primitive::str = #text;
            const URN: ::core::option::Option<&'static ::core::primitive::str> = #urn;
            const ALIASES: &'static [&'static ::core::primitive::str] = #aliases;
            const FALLBACK: ::core::primitive::bool = #fallback;
            const PRESENT: ::core::primitive::bool = true;
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
    let delivery = local("delivery", Span::call_site());
    let state = local("state", Span::call_site());
    let bounds = extractors
        .iter()
        .map(|ty| quote!(#ty: #krate::__private::FromDelivery<#lifetime, BabelState>));
    let names: Vec<Ident> = (0..=extractors.len())
        .map(|i| local(&format!("argument{i}"), Span::call_site()))
        .collect();
    let first = payload
        .as_ref()
        .map(|ty| first_argument(model, ty, &names[0], &delivery));
    let others = extractors.iter().zip(&names[1..]).map(|(ty, name)| {
        quote! {
            let #name = match <#ty as #krate::__private::FromDelivery<#lifetime, BabelState>>::from_delivery(
                #delivery, #state,
            ) {
                ::core::result::Result::Ok(argument) => argument,
                ::core::result::Result::Err(rejection) => {
                    return ::core::result::Result::Err(#krate::__private::rejected(rejection));
                }
            };
        }
    });
    let span = model.output.map_or_else(Span::call_site, Spanned::span);
    let answer = local("answer", span);
    let output = model.output.map_or_else(|| quote!(()), in_expression);
    let convert = quote_spanned! {Span::call_site().located_at(span)=>
        <#output as #krate::__private::IntoOutcome>::into_outcome(#answer)
    };
    let allow = model.is_deprecated.then(|| quote!(#[allow(deprecated)]));
    quote! {
        #(#cfgs)*
        #[automatically_derived]
        #allow
        impl<BabelState> #krate::__private::Handler<BabelState> for #name
        where
            BabelState: #krate::__private::SharedState,
            #(for<#lifetime> #bounds,)*
        {
            fn call<#lifetime>(
                #delivery: &#lifetime #krate::__private::Delivery,
                #state: &#lifetime BabelState,
            ) -> impl ::core::future::Future<Output = #krate::__private::HandlerResult>
                   + ::core::marker::Send
                   + #lifetime {
                async move {
                    let _ = #state;
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
    let decode = quote_spanned!(at_type=> #krate::__private::payload::<#ty>);
    quote! {
        let #name = match #decode(#delivery) {
            ::core::result::Result::Ok(payload) => payload,
            ::core::result::Result::Err(error) => return ::core::result::Result::Err(error),
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
    let checks = extractors.iter().map(|ty| {
        let span = Span::call_site().located_at(ty.span());
        quote_spanned! {span=>
            #krate::__private::state_offers::<#lifetime, #state, #ty>();
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
