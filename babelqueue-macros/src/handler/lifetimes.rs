//! Names the lifetimes of an argument's type: those left out, and the fn's own, all become the
//! one for which the delivery is borrowed.

use proc_macro2::Span;
use syn::visit_mut::{
    VisitMut, visit_path_arguments_mut, visit_trait_bound_mut, visit_type_mut,
    visit_type_reference_mut,
};
use syn::{Lifetime, PathArguments, TraitBound, Type, TypeReference};

/// The delivery's lifetime, in the user's types; the name is one that nobody writes.
pub(super) fn delivery(span: Span) -> Lifetime {
    Lifetime::new("'babel", span)
}

/// The type with every lifetime named. One that is not `'static`, nor bound within the type, is
/// the fn's own; if the fn has no such, the compiler says so at the fn.
pub(super) fn named(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Namer::default().visit_type_mut(&mut ty);
    ty
}

#[derive(Default)]
struct Namer {
    /// Lifetimes of a `for<…>` around the current place.
    bound: Vec<Lifetime>,
}

impl VisitMut for Namer {
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

    fn visit_trait_bound_mut(&mut self, bound: &mut TraitBound) {
        let outer = self.bound.len();
        let own = bound
            .lifetimes
            .iter()
            .flat_map(|lifetimes| &lifetimes.lifetimes);
        self.bound.extend(own.filter_map(|param| match param {
            syn::GenericParam::Lifetime(param) => Some(param.lifetime.clone()),
            _ => None,
        }));
        visit_trait_bound_mut(self, bound);
        self.bound.truncate(outer);
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(delivery(reference.and_token.span));
        }
        visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" && !self.bound.contains(lifetime) {
            *lifetime = delivery(lifetime.span());
        }
    }
}
