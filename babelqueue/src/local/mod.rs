//! An SQS inside the process.
