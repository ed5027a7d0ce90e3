//! Packs files into one compressed piece of the program. The build script reads this file, too.

use std::io::{Result, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Each file is a line with its path and its number of bytes, then the bytes; all are compressed together.
///
/// # Errors
/// The I/O error of a file that cannot be read, or is no text.
pub fn pack(sources: &Path, paths: &[String]) -> Result<Vec<u8>> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    for path in paths {
        let text = std::fs::read_to_string(sources.join(path))?;
        write!(packed, "{path}\t{}\n{text}", text.len())?;
    }
    packed.finish()
}
