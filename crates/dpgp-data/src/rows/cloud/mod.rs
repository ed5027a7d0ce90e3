//! Files of rows in a cloud. A build without the feature `cloud` refuses their addresses.

#[cfg(not(feature = "cloud"))]
mod absent;
#[cfg(feature = "cloud")]
mod chunks;
#[cfg(feature = "cloud")]
mod failure;
#[cfg(feature = "cloud")]
mod found;
#[cfg(feature = "cloud")]
mod location;
#[cfg(feature = "cloud")]
mod meant;
#[cfg(feature = "cloud")]
mod object;
#[cfg(feature = "cloud")]
mod store;
#[cfg(feature = "cloud")]
mod stream;
#[cfg(feature = "cloud")]
mod waiting;

#[cfg(not(feature = "cloud"))]
pub(crate) use absent::{check_address, find_files, open_bytes, open_parquet, read_file_state};
#[cfg(feature = "cloud")]
pub(crate) use {
    chunks::open_parquet, found::find_files, location::check_address, object::read_file_state, stream::open_bytes,
};
