//! The same figure for the family's Python SDK, measured on this machine in the same run.

use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "babelqueue==1.24.0";

const SCRIPT: &str = r#"
import json, sys, time
from babelqueue.codec import EnvelopeCodec

payload = json.loads(sys.argv[1])

def full():
    body = EnvelopeCodec.encode(EnvelopeCodec.make("urn:babel:orders:created", payload, queue="orders"))
    EnvelopeCodec.decode(body)

def bare():
    json.loads(json.dumps(payload))

def best(work):
    calls, least = 2000, float("inf")
    for _ in range(15):
        start = time.perf_counter_ns()
        for _ in range(calls):
            work()
        least = min(least, (time.perf_counter_ns() - start) / calls)
    return least

print(best(full) - best(bare))
"#;

/// Nanoseconds that the Python SDK adds to a bare JSON round trip of the payload.
pub fn overhead(payload: &str) -> Result<f64, String> {
    let python = environment()?;
    let output = run(Command::new(python).args(["-c", SCRIPT, payload]))?;
    output
        .trim()
        .parse()
        .map_err(|_| format!("it printed {output:?}"))
}

/// A virtual environment below the target folder that has the SDK.
fn environment() -> Result<PathBuf, String> {
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = executable.ancestors().nth(3).unwrap_or(Path::new("target"));
    let folder = target.join("codec_bench");
    let python = folder.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", PACKAGE]))?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
