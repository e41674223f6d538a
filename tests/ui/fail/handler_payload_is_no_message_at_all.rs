use babelqueue::prelude::*;

struct OrderCreated;

#[babel_handler]
async fn order_created(_order: OrderCreated, _ctx: &Context) {}

fn main() {
    let _ = Router::from_handlers![order_created];
}
