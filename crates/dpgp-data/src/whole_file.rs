//! Reads text as a whole: specs, parts of sums, releases.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The most bytes of a text that is read as a whole: far beyond the parts of sums over the most inducing inputs, and a device
/// that never ends fills no memory.
pub(super) const MOST: u64 = 256 << 20;

/// The text of a file or a pipe.
///
/// # Errors
/// The I/O error; [`ErrorKind::FileTooLarge`] for more than 256 MB.
pub fn read_limited_text(path: &Path) -> Result<String> {
    read_text_up_to(File::open(path)?, MOST)
}

fn read_text_up_to(from: impl Read, most: u64) -> Result<String> {
    let mut text = String::new();
    from.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 <= most {
        return Ok(text);
    }
    Err(too_large_error(most))
}

/// Says that there are more bytes than these.
pub(super) fn too_large_error(most: u64) -> Error {
    let why = format!("is larger than {} MB, the limit for text in memory", most >> 20);
    Error::new(ErrorKind::FileTooLarge, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_a_most_of_bytes() {
        assert_eq!(read_text_up_to(&b"1234"[..], 4).unwrap(), "1234");
        assert_eq!(read_text_up_to(&b"12345"[..], 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let endless = read_text_up_to(std::io::repeat(b' '), 3 << 20).unwrap_err();
        assert!(endless.to_string().contains("larger than 3 MB"));
    }
}
