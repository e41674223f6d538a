//! C-121: a facade that re-exports the library, one level down.

/// Everything about messaging.
pub mod messaging {
    pub use babelqueue;
}

pub use serde;
