//! Live, in both directions, over one SQS (`LocalSqs::serve`): the PyPI `babelqueue` SDK publishes
//! and Rust handlers take it, Rust publishes and the Python SDK takes it. The Python side is
//! `peer.py`, in the environment that `tests/python_env` sets up.

mod from_python;
mod peer;
mod to_python;
