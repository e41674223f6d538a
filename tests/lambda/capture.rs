//! Collects what is logged, with the fields of the spans around it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Subscriber, span};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// One log event.
#[derive(Clone, Debug)]
pub struct Logged {
    pub level: Level,
    pub message: String,
    /// Its own fields, and those of the spans around it.
    pub fields: BTreeMap<String, String>,
}

#[derive(Clone, Default)]
pub struct Capture {
    logged: Arc<Mutex<Vec<Logged>>>,
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Capture {
    /// Captures what this thread logs, as long as the guard lives.
    pub fn begin() -> (Self, DefaultGuard) {
        // Threads that log nowhere would else be asked whether a line is wanted at all, for everybody.
        let _ = tracing::subscriber::set_global_default(Registry::default());
        let capture = Self::default();
        let subscriber = Registry::default().with(capture.clone());
        (capture, tracing::subscriber::set_default(subscriber))
    }

    pub fn all(&self) -> Vec<Logged> {
        self.logged.lock().unwrap().clone()
    }

    /// Those of a level whose message holds the text.
    pub fn of(&self, level: Level, text: &str) -> Vec<Logged> {
        let mut all = self.all();
        all.retain(|logged| logged.level == level && logged.message.contains(text));
        all
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        ctx.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in ctx
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
        {
            let extensions = span.extensions();
            let of_span = extensions.get::<Fields>().unwrap();
            fields.0.extend(of_span.0.clone());
        }
        event.record(&mut fields);
        self.logged.lock().unwrap().push(Logged {
            level: *event.metadata().level(),
            message: fields.0.remove("message").unwrap_or_default(),
            fields: fields.0,
        });
    }
}
