//! The checked form of a handler.

use proc_macro2::TokenStream;
use syn::{
    Attribute, Error, FnArg, GenericParam, Ident, Lifetime, ReturnType, Signature, Type, Visibility,
};

use super::lifetimes;
use super::parse::{self, Function, Options};
use crate::crate_path::CratePath;
use crate::diagnostics::Errors;
use crate::literal::ungrouped;

/// What the expansion needs to know.
pub(super) struct Model<'a> {
    pub(super) krate: CratePath,
    pub(super) visibility: &'a Visibility,
    pub(super) ident: &'a Ident,
    /// Switch the fn, and with it all that is generated.
    pub(super) cfgs: Vec<&'a Attribute>,
    pub(super) is_deprecated: bool,
    /// Stands in an `impl`, where nothing can be generated beside it.
    pub(super) is_method: bool,
    pub(super) fallback: bool,
    pub(super) state: Option<Type>,
    /// The first argument's type and the others', with every lifetime named. `None` only beside
    /// an error.
    pub(super) payload: Option<Type>,
    pub(super) extractors: Vec<Type>,
    /// `None` for a fn that returns nothing.
    pub(super) output: Option<&'a Type>,
}

impl<'a> Model<'a> {
    pub(super) fn of(options: TokenStream, function: &'a Function) -> (Self, Errors) {
        let mut errors = Errors::default();
        let options: Options = errors.ok(parse::options(options)).unwrap_or_default();
        let signature = &function.signature;
        check_qualifiers(signature, &mut errors);
        let own = own_lifetimes(signature, &mut errors);
        let mut types = argument_types(signature, options.fallback, &own, &mut errors).into_iter();
        let has = |name| move |attribute: &&Attribute| attribute.path().is_ident(name);
        let model = Self {
            krate: CratePath::new(options.crate_path.as_ref(), "babel_handler", &mut errors),
            visibility: &function.visibility,
            ident: &signature.ident,
            cfgs: function.attributes.iter().filter(has("cfg")).collect(),
            is_method: signature.receiver().is_some(),
            is_deprecated: function.attributes.iter().any(|a| has("deprecated")(&a)),
            fallback: options.fallback,
            state: options.state,
            payload: types.next(),
            extractors: types.collect(),
            output: output(signature, &mut errors),
        };
        (model, errors)
    }
}

fn check_qualifiers(signature: &Signature, errors: &mut Errors) {
    if signature.asyncness.is_none() {
        errors.push(Error::new_spanned(
            signature.fn_token,
            "a handler is an async fn: write `async fn`",
        ));
    }
    if let Some(constness) = &signature.constness {
        errors.push(Error::new_spanned(constness, "a handler cannot be `const`"));
    }
    if matches!(signature.safety, syn::Safety::Unsafe(_)) {
        errors.push(Error::new_spanned(
            &signature.safety,
            "a handler cannot be `unsafe`",
        ));
    }
    if let Some(abi) = &signature.abi {
        errors.push(Error::new_spanned(abi, "a handler cannot be `extern`"));
    }
    if let Some(variadic) = &signature.variadic {
        errors.push(Error::new_spanned(variadic, "a handler cannot be variadic"));
    }
    let types = signature
        .generics
        .params
        .iter()
        .find(|p| !matches!(p, GenericParam::Lifetime(_)));
    if let Some(param) = types {
        errors.push(Error::new_spanned(
            param,
            "a handler cannot be generic: its payload is one type; write one handler per type \
             that calls a common generic fn",
        ));
    } else if let Some(clause) = &signature.generics.where_clause {
        errors.push(Error::new_spanned(
            clause,
            "a handler cannot have a `where` clause",
        ));
    }
}

fn own_lifetimes(signature: &Signature, errors: &mut Errors) -> Vec<Lifetime> {
    let mut own = Vec::new();
    for param in signature.generics.lifetimes() {
        if !param.bounds.is_empty() {
            errors.push(Error::new_spanned(
                param,
                "a handler's lifetimes are all that of its delivery: remove the bound",
            ));
        }
        own.push(param.lifetime.clone());
    }
    own
}

fn argument_types(
    signature: &Signature,
    fallback: bool,
    own: &[Lifetime],
    errors: &mut Errors,
) -> Vec<Type> {
    if signature.inputs.is_empty() {
        let first = if fallback {
            "`&Envelope`"
        } else {
            "the message that it handles"
        };
        errors.push(Error::new_spanned(
            &signature.ident,
            format!("a handler takes its payload first: add an argument of {first}"),
        ));
    }
    let mut types = Vec::new();
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => errors.push(Error::new_spanned(
                receiver,
                "a handler is a free fn: take what it needs as `State<T>` instead of `self`",
            )),
            FnArg::Typed(argument) => {
                check_argument(&argument.ty, errors);
                types.push(lifetimes::named(&argument.ty, own));
            }
        }
    }
    types
}

fn check_argument(ty: &Type, errors: &mut Errors) {
    match ungrouped(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => {
            errors.push(Error::new_spanned(
                ty,
                "a handler cannot take `&mut`: deliveries run at once, share state through \
                 `State<Arc<Mutex<…>>>`",
            ));
        }
        Type::ImplTrait(_) => errors.push(Error::new_spanned(
            ty,
            "a handler cannot take `impl Trait`: name the type",
        )),
        _ => {}
    }
}

fn output<'a>(signature: &'a Signature, errors: &mut Errors) -> Option<&'a Type> {
    let ReturnType::Type(_, ty) = &signature.output else {
        return None;
    };
    if matches!(ungrouped(ty), Type::ImplTrait(_)) {
        errors.push(Error::new_spanned(
            ty,
            "a handler cannot return `impl Trait`: name the type, such as `Result<(), Error>`",
        ));
    }
    Some(ty)
}
