//! An SQS for this machine, to be used from any language:
//!
//! ```text
//! cargo run --release --example local_sqs -- 127.0.0.1:9324
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::net::SocketAddr;
use std::process::ExitCode;

use babelqueue::local::LocalSqs;

const DEFAULT: &str = "127.0.0.1:9324";

#[tokio::main]
async fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let text = args.next().unwrap_or_else(|| DEFAULT.to_owned());
    let Ok(addr) = text.parse::<SocketAddr>() else {
        eprintln!("{text:?} is not an address. Give an IP address and a port, such as {DEFAULT}.");
        return ExitCode::from(2);
    };
    if args.next().is_some() {
        eprintln!("Give one address, such as {DEFAULT}, and nothing else.");
        return ExitCode::from(2);
    }
    let server = match LocalSqs::new().serve(addr).await {
        Ok(server) => server,
        Err(error) => {
            eprintln!("Cannot listen on {addr}: {error}.");
            return ExitCode::from(2);
        }
    };
    let endpoint = server.endpoint();
    println!(
        "The embedded SQS listens on {endpoint}. Stop it with Ctrl-C.

With the AWS CLI:
  AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1 \\
    aws --endpoint-url {endpoint} sqs create-queue --queue-name orders

With Python:
  import boto3
  sqs = boto3.client(\"sqs\", endpoint_url=\"{endpoint}\", region_name=\"us-east-1\",
                     aws_access_key_id=\"local\", aws_secret_access_key=\"local\")
  url = sqs.create_queue(QueueName=\"orders\")[\"QueueUrl\"]
  sqs.send_message(QueueUrl=url, MessageBody=\"hello\")"
    );
    if let Err(error) = tokio::signal::ctrl_c().await {
        eprintln!("Cannot wait for Ctrl-C: {error}.");
    }
    server.shutdown().await;
    println!("Stopped.");
    ExitCode::SUCCESS
}
