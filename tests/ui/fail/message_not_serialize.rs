use babelqueue::prelude::*;

#[derive(BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

async fn publish(publisher: &dyn Publish) {
    let _ = OrderCreated { order_id: 1 }.publish(publisher).await;
}

fn main() {}
