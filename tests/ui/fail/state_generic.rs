use babelqueue::FromRef;

#[derive(Clone, FromRef)]
struct App<T> {
    db: T,
}

fn main() {}
