//! How fast the embedded SQS is, through the AWS SDK, in process and over loopback HTTP,
//! and what a stored message costs:
//!
//! ```text
//! cargo run --release --example local_sqs_bench
//! ```
//!
//! It fails when a bound is broken: at a depth of a million messages every rate is at least two
//! thirds of what it is at a thousand, and no message takes more than 600 bytes beside its body,
//! its attributes and its ids. `-- speed` and `-- memory` measure the one or the other.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod memory;
mod speed;

use std::error::Error;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The length of a body.
const BODY: usize = 256;
/// How many times slower the greater depth may be.
const MAX_RATIO: f64 = 1.5;
/// How many bytes a stored message may take beside its content.
const MAX_BYTES: usize = 600;

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (speed, memory) = match arguments[..] {
        [] => (true, true),
        ["speed"] => (true, false),
        ["memory"] => (false, true),
        // What the process starts itself with.
        ["memory", kind] => return memory::print_one(kind).await,
        _ => {
            eprintln!("Give nothing, speed or memory.");
            return Ok(ExitCode::from(2));
        }
    };
    let mut good = true;
    if memory {
        let most = memory::table()?;
        println!("A stored message takes its content and at most {most} bytes.\n");
        good &= most <= MAX_BYTES;
    }
    if speed {
        let ratio = speed::table().await?;
        println!("At the greater depth everything is at most {ratio:.2} times slower.");
        good &= ratio < MAX_RATIO;
    }
    if !good {
        eprintln!("A bound is broken: {MAX_RATIO} times slower, or {MAX_BYTES} bytes.");
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
