//! A consumer is consumed by its run: two loops cannot poll for one.

use babelqueue::SqsConsumer;

async fn twice(consumer: SqsConsumer) {
    let _first = consumer.run();
    let _second = consumer.run();
}

fn main() {}
