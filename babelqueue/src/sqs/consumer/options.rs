//! What a consumer can be told, before it is checked: one plain struct, so that a setting cannot
//! get lost between builder and consumer.

use std::time::Duration;

use crate::aws::Settings;

/// Every option with its default.
#[derive(Clone)]
pub(super) struct Options {
    pub(super) concurrency: usize,
    pub(super) max_in_flight: Option<usize>,
    pub(super) max_in_flight_bytes: Option<usize>,
    pub(super) batch_size: usize,
    pub(super) wait_time: Duration,
    pub(super) visibility_timeout: Option<Duration>,
    pub(super) heartbeat: bool,
    pub(super) max_handling_time: Duration,
    pub(super) shutdown_timeout: Duration,
    pub(super) shutdown_linger: Duration,
    pub(super) startup_checks: bool,
    pub(super) handler_batch: usize,
    pub(super) handler_linger: Duration,
    pub(super) settings: Settings,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: 10,
            max_in_flight: None,
            max_in_flight_bytes: None,
            batch_size: 10,
            wait_time: Duration::from_secs(20),
            visibility_timeout: None,
            heartbeat: true,
            max_handling_time: Duration::from_secs(3600),
            shutdown_timeout: Duration::from_secs(20),
            shutdown_linger: Duration::from_millis(250),
            startup_checks: true,
            handler_batch: 10,
            handler_linger: Duration::from_millis(200),
            settings: Settings::default(),
        }
    }
}
