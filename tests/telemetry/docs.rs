//! The page and the dashboard tell of the metrics that there are.

use std::collections::BTreeSet;

use babelqueue::prelude::*;
use serde_json::Value;

use crate::support::{Bench, order};

const PAGE: &str = include_str!("../../docs/telemetry.md");
const DASHBOARD: &str = include_str!("../../docs/telemetry-dashboard.json");

/// The metrics of the page's table, with their kinds.
fn documented() -> Vec<(&'static str, &'static str)> {
    let lines = PAGE.lines().filter(|line| line.starts_with("| `"));
    let cells = lines.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let kinds = ["counter", "histogram, s", "level"];
    cells
        .filter(|cells| kinds.contains(&cells[2]))
        .map(|cells| (cells[1].trim_matches('`'), cells[2]))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn every_metric_is_on_the_page() {
    let bench = Bench::new();
    let publish = order(&["fail", "permanent"]).publish(&bench.app.publisher);
    publish.await.unwrap();
    bench.poll().await;
    bench.poll().await;
    let documented: BTreeSet<_> = documented().into_iter().map(|(name, _)| name).collect();
    assert_eq!(documented.len(), 17);
    for name in bench.metrics() {
        assert!(documented.contains(&*name), "{name}");
    }
}

#[test]
fn the_dashboard_asks_for_every_metric_and_for_no_other() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions: Vec<_> = targets
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    // As Prometheus names them.
    let mut known = BTreeSet::new();
    for (name, kind) in documented() {
        let name = name.replace('.', "_");
        let names = match kind {
            "counter" => vec![format!("{name}_total")],
            "level" => vec![name],
            _ => vec![
                format!("{name}_seconds_bucket"),
                format!("{name}_seconds_count"),
            ],
        };
        let asked = |name: &String| {
            expressions
                .iter()
                .any(|text| text.contains(&format!("{name}{{")))
        };
        assert!(names.iter().any(asked), "{names:?}");
        known.extend(names);
    }
    for expression in expressions {
        let before = expression.split('{').next().unwrap();
        let name = before.rsplit('(').next().unwrap();
        assert!(known.contains(name), "{name} in {expression}");
    }
}

#[test]
fn every_field_of_a_log_event_is_on_the_page() {
    let logs = PAGE.split("## Logs").nth(1).unwrap();
    let logs = logs.split("\n## ").next().unwrap();
    let cells = logs
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: Vec<_> = cells.collect();
    assert_eq!(listed, babelqueue::fields::ALL);
}
