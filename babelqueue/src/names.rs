//! The names of macros that are reached through a module, because a Rust path such as
//! `Router::from_handlers!` resolves through nothing else.

/// The router: `Router::from_handlers![…]` makes one, `Router::merge![…]` joins two.
///
/// # `Router::from_handlers![…]`
///
/// Makes a router of a list of handlers.
///
/// Every entry is the path of a fn under `#[babel_handler]`, and may carry `#[cfg(…)]`. The
/// value is of a zero-sized type that implements [`Routes`](crate::Routes); a URN with two
/// handlers does not compile.
///
/// ```
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated {}
/// #[babel_handler]
/// async fn order_created(order: OrderCreated) { /* … */ }
///
/// mod shipping {
///     use babelqueue::prelude::*;
/// #   use serde::{Deserialize, Serialize};
/// #   #[derive(Serialize, Deserialize, BabelMessage)]
/// #   #[urn = "urn:babel:orders:shipped"]
/// #   pub struct OrderShipped {}
///
///     #[babel_handler]
///     pub async fn order_shipped(order: OrderShipped) { /* … */ }
/// }
///
/// let router = Router::from_handlers![order_created, shipping::order_shipped];
/// assert_eq!(std::mem::size_of_val(&router), 0);
/// assert_eq!(router.routes()[1].urn, "urn:babel:orders:shipped");
/// assert_eq!(router.routes()[1].handler, "order_shipped");
/// ```
///
/// Two handlers of one URN, listed or merged, do not build:
///
/// ```compile_fail,E0080
/// # use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated {}
/// # #[babel_handler]
/// # async fn first(order: OrderCreated) { /* … */ }
/// # #[babel_handler]
/// # async fn second(order: OrderCreated) { /* … */ }
/// let router = Router::from_handlers![first].merge(Router::from_handlers![second]);
/// ```
///
/// With a name in front it defines a unit struct of that name, so that the router can stand in a
/// `static`, in another module, or in [`Router::merge!`](crate::Router::merge):
///
/// ```
/// # use babelqueue::prelude::*;
/// Router::from_handlers![pub struct Orders;];
///
/// fn orders() -> impl Routes<()> {
///     Orders
/// }
/// ```
///
/// # `Router::merge![…]`
///
/// Joins named routers, and refuses a URN that two of them have in `cargo check` already.
///
/// ```
/// # use babelqueue::prelude::*;
/// Router::from_handlers![struct Orders;];
/// Router::from_handlers![struct Billing;];
///
/// let router = Router::merge![Orders, Billing];
/// assert!(router.routes().is_empty());
/// ```
#[allow(non_snake_case)]
pub mod Router {
    #[doc(no_inline)]
    pub use crate::__from_handlers as from_handlers;
    #[doc(no_inline)]
    pub use crate::__merge as merge;
}

/// See [`Router`](crate::Router).
#[doc(hidden)]
#[macro_export]
macro_rules! __from_handlers {
    ($($list:tt)*) => {
        $crate::__private::from_handlers! { ($crate) $($list)* }
    };
}

/// See [`Router`](crate::Router).
#[doc(hidden)]
#[macro_export]
macro_rules! __merge {
    () => { $crate::__from_handlers![] };
    ($only:path $(,)?) => { $only };
    ($first:path, $second:path $(, $more:path)* $(,)?) => {{
        const _: () = $crate::__private::assert_disjoint::<$first, $second>();
        $crate::__merge!(@ ($crate::__private::Merged<$first, $second>)
            ($crate::RouteTable::merge($first, $second)) $($more),*)
    }};
    (@ ($type:ty) ($value:expr)) => { $value };
    (@ ($type:ty) ($value:expr) $next:path $(, $more:path)*) => {{
        const _: () = $crate::__private::assert_disjoint::<$type, $next>();
        $crate::__merge!(@ ($crate::__private::Merged<$type, $next>)
            ($crate::RouteTable::merge($value, $next)) $($more),*)
    }};
}
