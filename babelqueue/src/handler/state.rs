//! The application's state and the parts of it that a handler asks for.

use std::ops::{Deref, DerefMut};

/// A part of the application's state, as an argument of a handler: `State(db): State<Db>`.
///
/// `T` is the state itself, or any part that [`FromRef`] takes out of it. It is cloned for each
/// delivery, so it should be cheap to clone: an `Arc`, a pool, a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State<T>(pub T);

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for State<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Takes a part out of the state. Derive it on the state's struct, and every field is such a
/// part:
///
/// ```
/// use babelqueue::FromRef;
///
/// #[derive(Clone)]
/// struct Db;
///
/// #[derive(Clone, FromRef)]
/// struct App {
///     db: Db,
///     #[babel(skip)]
///     started: std::time::SystemTime,
/// }
///
/// let app = App { db: Db, started: std::time::SystemTime::now() };
/// let _db: Db = FromRef::from_ref(&app);
/// # let _ = app.started;
/// ```
#[diagnostic::on_unimplemented(
    message = "the state `{S}` has no `{Self}`",
    label = "a handler asks for `State<{Self}>`",
    note = "give the consumer a state that has one, with `.state(…)`: a field of type `{Self}` \
            under `#[derive(FromRef)]`, or an `impl FromRef<{S}> for {Self}`"
)]
pub trait FromRef<S> {
    /// Clones the part out of the state.
    fn from_ref(state: &S) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> FromRef<T> for T {
    fn from_ref(state: &T) -> Self {
        state.clone()
    }
}

/// What can be the state of a consumer: everything that is `Send + Sync + 'static`. Handlers of
/// one consumer run at the same time, on the threads of the runtime, a current-thread one
/// included: an `Rc` or a `RefCell` cannot be shared so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a consumer",
    label = "must be `Send + Sync + 'static`: handlers run at the same time",
    note = "hold what is shared in an `Arc`, and what changes in a `Mutex` or an atomic"
)]
pub trait SharedState: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> SharedState for T {}
