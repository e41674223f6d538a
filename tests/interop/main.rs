//! Between processes and languages. Live, in both directions, over one SQS (`LocalSqs::serve`):
//! the PyPI `babelqueue` SDK publishes and Rust handlers take it, Rust publishes and the Python
//! SDK takes it; and the examples, run as a stranger runs them. The Python side is `peer.py`, in
//! the environment that `tests/python_env` sets up.

mod escaped;
mod example_local_sqs;
mod example_orders;
#[cfg(feature = "otlp")]
mod example_telemetry;
mod from_python;
mod peer;
mod to_python;
#[cfg(feature = "otel")]
mod traces;
