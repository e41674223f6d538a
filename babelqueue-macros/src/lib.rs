//! The procedural macros of `babelqueue`: entry points only. Each macro lives in a module of its
//! own and goes the same way: parse the tokens, check them into a model, expand the model.

use proc_macro::TokenStream;

mod crate_path;
mod diagnostics;
mod from_ref;
mod handler;
mod literal;
mod message;
mod routes;

/// Makes a struct a message: implements `babelqueue::BabelMessage` for it.
///
/// ```
/// use babelqueue::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, BabelMessage)]
/// #[urn = "urn:babel:orders:created"]
/// struct OrderCreated {
///     #[babel(group_id)]
///     customer_id: u64,
///     order_id: u64,
/// }
/// ```
///
/// | attribute | on | meaning |
/// |---|---|---|
/// | `#[urn = "urn:<nid>:<nss>"]` | struct, required | the message's URN; checked here |
/// | `#[babel(alias = "urn:…")]` | struct, repeatable | an older URN that its handler accepts as well |
/// | `#[babel(schema)]` | struct | requires `schemars::JsonSchema`, so that `schema()` is never `None` |
/// | `#[babel(crate = "path")]` | struct | where babelqueue is found, when not at `::babelqueue` |
/// | `#[babel(group_id)]` | field | the FIFO group, or the fair-queue tenant: any `Display`, or an `Option` of one |
/// | `#[babel(dedup_id)]` | field | the deduplication id on a FIFO queue, likewise |
///
/// The struct's `data` must be a JSON object: structs with named fields, unit structs (`{}` on
/// the wire) and newtypes of such. Generics, lifetimes and defaults are carried over. A `&str`
/// field is refused, because text that JSON escapes cannot be borrowed so:
/// `#[serde(borrow)] name: Cow<'a, str>` can.
#[proc_macro_derive(BabelMessage, attributes(urn, babel))]
pub fn derive_babel_message(input: TokenStream) -> TokenStream {
    message::derive(input.into()).into()
}

/// Makes every field of a state a part that handlers can ask for with `State<T>`: implements
/// `babelqueue::FromRef` once for each field's type.
///
/// `#[babel(skip)]` leaves a field out; two fields of one type need it on one of them.
/// `#[babel(crate = "path")]` on the struct says where babelqueue is found.
#[proc_macro_derive(FromRef, attributes(babel))]
pub fn derive_from_ref(input: TokenStream) -> TokenStream {
    from_ref::derive(input.into()).into()
}

/// Makes an async fn a handler that can be listed in `Router::from_handlers![…]`.
///
/// The first argument is the payload, every other one an extractor (`FromDelivery`). The fn may
/// return `()`, `Outcome`, or a `Result` of either with any error that becomes a `HandlerError`.
/// It stays callable as written.
///
/// ```
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated { order_id: u64 }
/// #[babel_handler]
/// async fn order_created(order: OrderCreated, ctx: &Context) -> Result<(), std::io::Error> {
///     println!("{} of trace {}", order.order_id, ctx.trace_id());
///     Ok(())
/// }
/// ```
///
/// | option | meaning |
/// |---|---|
/// | `batch` | takes many messages of its URN at a time: the first argument is a `Batch<T>`, the others are `FromBatch` |
/// | `per_attribute = "name"` | with `batch`: one call for each value of this message attribute, and one for those without it |
/// | `fallback` | takes every URN that has no handler; the first argument is `&Envelope` |
/// | `state = App` | pins the state, so that what it lacks is reported at the argument |
/// | `crate = "path"` | where babelqueue is found, when not at `::babelqueue` |
#[proc_macro_attribute]
pub fn babel_handler(options: TokenStream, item: TokenStream) -> TokenStream {
    handler::attribute(options.into(), item.into()).into()
}

/// What `Router::from_handlers!` expands to; it hands the library's path on.
#[doc(hidden)]
#[proc_macro]
pub fn from_handlers(input: TokenStream) -> TokenStream {
    routes::from_handlers(input.into()).into()
}
