//! The publisher against the embedded SQS.
fn main() {}
