//! The AWS JSON 1.0 protocol of SQS: requests in, answers out. It decides
//! nothing that the engine could.

pub(crate) mod dispatch;
pub(crate) mod errors;
pub(crate) mod filter;
pub(crate) mod input;
mod object;
pub(crate) mod operation;
pub(crate) mod output;
pub(crate) mod page;
pub(crate) mod url;
pub(crate) mod wait;
