use babelqueue::FromRef;

#[derive(Clone)]
struct Db;

#[derive(Clone, FromRef)]
struct App {
    orders: Db,
    billing: Db,
}

fn main() {}
