//! Waits for a store in synchronous code.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::sync::OnceLock;
use std::time::Duration;

use object_store::Error as StoreError;
use tokio::runtime::{Builder, Runtime};

use super::failure::store_to_io_error;

/// The longest that one request may take, with all that it is tried again.
const LONGEST: Duration = Duration::from_secs(50);

/// The runtime of all requests: it has no thread of its own, and works while somebody waits.
static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();

/// Result of a request.
///
/// # Errors
/// Those of the store, in words of our own, and that there was no answer in time.
pub fn wait_for_request<T>(request: impl Future<Output = Result<T, StoreError>>) -> io::Result<T> {
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build());
    let runtime = runtime.as_ref().map_err(|cause| io::Error::new(cause.kind(), cause.to_string()))?;
    match runtime.block_on(async { tokio::time::timeout(LONGEST, request).await }) {
        Ok(answer) => answer.map_err(|cause| store_to_io_error(&cause)),
        Err(_) => Err(io::Error::new(ErrorKind::TimedOut, "the store did not answer in time")),
    }
}
