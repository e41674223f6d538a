//! Names the lifetimes of an argument's type: those left out, and the fn's own, all become the
//! one for which the delivery is borrowed.

use proc_macro2::Span;
use syn::visit_mut::{
    VisitMut, visit_path_arguments_mut, visit_type_mut, visit_type_reference_mut,
};
use syn::{Lifetime, PathArguments, Type, TypeReference};

/// The delivery's lifetime, in the user's types; the name is one that nobody writes.
pub(super) fn delivery(span: Span) -> Lifetime {
    Lifetime::new("'babel", span)
}

/// The type with every lifetime of `own`, and every one left out, named.
pub(super) fn named(ty: &Type, own: &[Lifetime]) -> Type {
    let mut ty = ty.clone();
    Namer { own }.visit_type_mut(&mut ty);
    ty
}

struct Namer<'a> {
    own: &'a [Lifetime],
}

impl VisitMut for Namer<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        // The lifetimes left out in a fn pointer are the pointer's own.
        if !matches!(ty, Type::FnPtr(_)) {
            visit_type_mut(self, ty);
        }
    }

    fn visit_path_arguments_mut(&mut self, arguments: &mut PathArguments) {
        // So are those of `Fn(&T)`.
        if !matches!(arguments, PathArguments::Parenthesized(_)) {
            visit_path_arguments_mut(self, arguments);
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(delivery(reference.and_token.span));
        }
        visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" || self.own.contains(lifetime) {
            *lifetime = delivery(lifetime.span());
        }
    }
}
