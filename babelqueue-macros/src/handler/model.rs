//! The checked form of a handler.

use proc_macro2::TokenStream;
use syn::visit_mut::{VisitMut, visit_type_mut};
use syn::{
    Attribute, Error, FnArg, GenericParam, Ident, LitStr, ReturnType, Signature, Type, Visibility,
};

use super::lifetimes;
use super::parse::{self, Function, Options};
use crate::crate_path::CratePath;
use crate::diagnostics::Errors;
use crate::literal::ungrouped;

/// A batch handler, and the attribute by whose values its batches are divided.
pub(super) struct Batch {
    pub(super) per_attribute: Option<LitStr>,
}

/// What the expansion needs to know.
pub(super) struct Model<'a> {
    pub(super) krate: CratePath,
    pub(super) visibility: &'a Visibility,
    pub(super) ident: &'a Ident,
    /// Switch the fn, and with it all that is generated.
    pub(super) cfgs: Vec<&'a Attribute>,
    /// Another `#[babel_handler]` follows, which generates what there is to generate.
    pub(super) is_twice: bool,
    /// Lints that the user allows on the handler, and the one that a deprecated fn asks for.
    pub(super) allows: Vec<Attribute>,
    /// Stands in an `impl`, where nothing can be generated beside it.
    pub(super) is_method: bool,
    pub(super) fallback: bool,
    pub(super) batch: Option<Batch>,
    pub(super) state: Option<Type>,
    /// The first argument's type and the others', with every lifetime named. `None` only beside
    /// an error.
    pub(super) payload: Option<Type>,
    pub(super) extractors: Vec<Type>,
    /// `None` for a fn that returns nothing.
    pub(super) output: Option<Type>,
}

impl<'a> Model<'a> {
    pub(super) fn of(options: TokenStream, function: &'a Function) -> (Self, Errors) {
        let mut errors = Errors::default();
        let options: Options = errors.ok(parse::options(options)).unwrap_or_default();
        let signature = &function.signature;
        check_qualifiers(signature, &mut errors);
        check_lifetimes(signature, &mut errors);
        check_attributes(&function.attributes, &mut errors);
        let fallback = options.fallback.is_some();
        let batch = batch(&options, &mut errors);
        let mut types =
            argument_types(signature, fallback, batch.is_some(), &mut errors).into_iter();
        let has = |name| move |attribute: &&Attribute| attribute.path().is_ident(name);
        let mut allows: Vec<_> = function
            .attributes
            .iter()
            .filter(has("allow"))
            .cloned()
            .collect();
        if function
            .attributes
            .iter()
            .any(|attribute| has("deprecated")(&attribute))
        {
            allows.push(syn::parse_quote!(#[allow(deprecated)]));
        }
        let model = Self {
            krate: CratePath::new(options.crate_path.as_ref(), "babel_handler", &mut errors),
            visibility: &function.visibility,
            ident: &signature.ident,
            cfgs: function.attributes.iter().filter(has("cfg")).collect(),
            is_method: signature.receiver().is_some(),
            is_twice: function.attributes.iter().any(is_handler_attribute),
            allows,
            fallback,
            batch,
            state: options.state,
            payload: types.next(),
            extractors: types.collect(),
            output: output(signature, &mut errors),
        };
        (model, errors)
    }
}

fn batch(options: &Options, errors: &mut Errors) -> Option<Batch> {
    match (&options.batch, &options.per_attribute) {
        (Some(batch), _) if options.fallback.is_some() => {
            errors.push(Error::new_spanned(
                batch,
                "a fallback handler takes one message at a time: remove `batch`",
            ));
            None
        }
        (None, Some(name)) => {
            errors.push(Error::new_spanned(
                name,
                "`per_attribute` divides the batches of a batch handler: add `batch`",
            ));
            None
        }
        (Some(_), name) => {
            if let Some(name) = name
                && name.value().is_empty()
            {
                errors.push(Error::new_spanned(
                    name,
                    "`per_attribute` is the name of a message attribute",
                ));
            }
            Some(Batch {
                per_attribute: name.clone(),
            })
        }
        (None, None) => None,
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
    } else if let Some(clause) = &signature.generics.where_clause
        && !clause.predicates.is_empty()
    {
        errors.push(Error::new_spanned(
            clause,
            "a handler cannot have a `where` clause",
        ));
    }
}

fn check_lifetimes(signature: &Signature, errors: &mut Errors) {
    for param in signature.generics.lifetimes() {
        if !param.bounds.is_empty() {
            errors.push(Error::new_spanned(
                param,
                "a handler's lifetimes are all that of its delivery: remove the bound",
            ));
        }
    }
}

fn is_handler_attribute(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == "babel_handler")
}

fn check_attributes(attributes: &[Attribute], errors: &mut Errors) {
    if let Some(again) = attributes
        .iter()
        .find(|attribute| is_handler_attribute(attribute))
    {
        errors.push(Error::new_spanned(
            again,
            "`#[babel_handler]` is given twice",
        ));
    }
}

fn argument_types(
    signature: &Signature,
    fallback: bool,
    batch: bool,
    errors: &mut Errors,
) -> Vec<Type> {
    if signature.inputs.is_empty() {
        let first = if fallback {
            "`&Envelope`"
        } else if batch {
            "the `Batch<T>` that it handles"
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
                let cfg = argument.attrs.iter().find(|a| a.path().is_ident("cfg"));
                if let Some(cfg) = cfg {
                    errors.push(Error::new_spanned(
                        cfg,
                        "an argument of a handler takes no `#[cfg]`: put it on two handlers",
                    ));
                }
                check_argument(&argument.ty, errors);
                types.push(lifetimes::named(&argument.ty));
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
        _ => check_named(ty, "take", "the type", errors),
    }
}

fn output(signature: &Signature, errors: &mut Errors) -> Option<Type> {
    let ReturnType::Type(_, ty) = &signature.output else {
        return None;
    };
    check_named(
        ty,
        "return",
        "the type, such as `Result<(), Error>`",
        errors,
    );
    Some(lifetimes::named(ty))
}

/// Refuses a type that the generated code could not name, wherever it stands in it.
fn check_named(ty: &Type, verb: &str, instead: &str, errors: &mut Errors) {
    struct Unnamed(Option<(Type, &'static str)>);
    impl VisitMut for Unnamed {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            let what = match ty {
                Type::ImplTrait(_) => "impl Trait",
                Type::Infer(_) => "_",
                _ => return visit_type_mut(self, ty),
            };
            self.0.get_or_insert_with(|| (ty.clone(), what));
        }
    }
    let mut unnamed = Unnamed(None);
    unnamed.visit_type_mut(&mut ty.clone());
    if let Some((place, what)) = unnamed.0 {
        let message = format!("a handler cannot {verb} `{what}`: name {instead}");
        errors.push(Error::new_spanned(place, message));
    }
}
