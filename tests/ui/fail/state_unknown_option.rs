use babelqueue::FromRef;

#[derive(Clone, FromRef)]
struct App {
    #[babel(skipp)]
    db: String,
}

fn main() {}
