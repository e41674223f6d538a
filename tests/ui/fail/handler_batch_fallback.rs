use babelqueue::prelude::*;

#[babel_handler(fallback, batch)]
async fn anything(_: &Envelope) {}

fn main() {}
