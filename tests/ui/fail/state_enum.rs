use babelqueue::FromRef;

#[derive(Clone, FromRef)]
enum App {
    Test,
    Live,
}

fn main() {}
