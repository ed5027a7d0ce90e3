//! Decoding of files that may be damaged.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread decodes a file. A panic is then an error of the file, and no bug of the program.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// What the library of the format makes of a file. It has assertions where bytes do not fit each other, and a panic there is
/// the error of a damaged file.
///
/// Nobody sees what a panic leaves half done: all readers of a file end with its first error.
pub(super) fn decoded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let before = DECODING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(before);
    outcome.unwrap_or_else(|_| Err(ParquetError::General("its parts do not fit each other".to_owned())))
}
