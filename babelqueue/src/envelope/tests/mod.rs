//! Tests of the wire contract as a whole.
