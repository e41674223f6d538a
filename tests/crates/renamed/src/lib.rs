//! C-121: the crate under another name. C-122: with no other dependency: the payload writes its
//! serde impls by hand, so that nothing but the library's own re-exports is there to be named.

use bq::prelude::*;

/// A payload of no fields.
#[derive(BabelMessage)]
#[urn = "urn:babel:ping"]
pub struct Ping;

impl<'de> bq::serde::Deserialize<'de> for Ping {
    fn deserialize<D: bq::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Self)
    }
}

impl bq::serde::Serialize for Ping {
    fn serialize<S: bq::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ().serialize(serializer)
    }
}

/// A part of the state.
#[derive(Clone)]
pub struct Db;

/// The state.
#[derive(Clone, FromRef)]
pub struct App {
    db: Db,
}

impl App {
    /// A state.
    pub fn new() -> Self {
        Self { db: Db }
    }
}

impl Default for App {
    fn default() -> Self {
        Self::new()
    }
}

/// Handles a ping.
#[babel_handler]
pub async fn ping(_ping: Ping, _ctx: &Context, State(_db): State<Db>) {}

/// The router.
pub fn router() -> impl Routes<App> {
    Router::from_handlers![ping]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_121_finds_its_way_under_another_name() {
        assert_eq!(router().find("urn:babel:ping"), Some(0));
    }
}
