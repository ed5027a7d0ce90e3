//! Mistakes of a user: the messages that name the place and what is allowed. Every message in the source has a case.

mod data;
mod spec;
mod sums;
