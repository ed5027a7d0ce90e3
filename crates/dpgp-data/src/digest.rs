//! Files as a whole: their SHA-256 digests, and the text of specs, parts of sums and releases.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::str::FromStr;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::cache::{Progress, SilentProgress};
use super::error::{DataError, FileAction, IoErrorContext};

/// How many bytes are read and hashed at a time.
const BLOCK: usize = 1 << 16;

/// A SHA-256 digest; it prints as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Digest([u8; 32]);

/// Identity of the contents of a file: its digest and its size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChecksum {
    /// SHA-256 of the whole file.
    #[serde(rename = "sha256")]
    pub digest: Digest,
    /// Size in bytes.
    pub bytes: u64,
}

/// The text is not 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 digest must have 64 hexadecimal digits")]
pub struct DigestParseError;

impl FromStr for Digest {
    type Err = DigestParseError;

    fn from_str(text: &str) -> Result<Self, DigestParseError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| DigestParseError)?;
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestParseError;

    fn try_from(text: String) -> Result<Self, DigestParseError> {
        text.parse()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Display for FileChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHA-256 {} ({} bytes)", self.digest, self.bytes)
    }
}

impl Digest {
    /// The SHA-256 of `bytes`.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The first eight hexadecimal digits, to name files by.
    #[must_use]
    pub fn short(&self) -> String {
        hex::encode(&self.0[..4])
    }
}

/// The digest and size of the file at `path`, read in blocks.
///
/// # Errors
/// [`DataError::Io`] when the file cannot be read.
pub fn compute_file_checksum(path: &Path) -> Result<FileChecksum, DataError> {
    File::open(path)
        .and_then(|file| hash_reader(file, u64::MAX, &SilentProgress))
        .with_io_context(FileAction::Read, path)
}

/// The same of a file or a pipe that a user names. What is no file of a disk may have no end, and has a most of bytes.
///
/// # Errors
/// The I/O error; [`ErrorKind::FileTooLarge`] for more than 256 MB of a pipe or a device.
pub fn compute_checksum_with_progress(path: &Path, progress: &dyn Progress) -> io::Result<FileChecksum> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    let (total, most) = if about.is_file() { (Some(about.len()), u64::MAX) } else { (None, MOST) };
    progress.start(&path.to_string_lossy(), total);
    let stamp = hash_reader(file, most, progress);
    progress.finish();
    stamp
}

fn hash_reader(mut from: impl Read, most: u64, progress: &dyn Progress) -> io::Result<FileChecksum> {
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut bytes = 0;
    loop {
        let read = from.read(&mut block)?;
        if read == 0 {
            return Ok(FileChecksum { digest: Digest(hasher.finalize().into()), bytes });
        }
        bytes += read as u64;
        if bytes > most {
            return Err(too_large_error(most));
        }
        hasher.update(&block[..read]);
        progress.advance(read as u64);
    }
}

/// The most bytes of a text that is read as a whole: far beyond the parts of sums over the most inducing inputs, and a device
/// that never ends fills no memory.
const MOST: u64 = 256 << 20;

/// The text of a file or a pipe.
///
/// # Errors
/// The I/O error; [`ErrorKind::FileTooLarge`] for more than 256 MB.
pub fn read_limited_text(path: &Path) -> io::Result<String> {
    read_text_up_to(File::open(path)?, MOST)
}

fn read_text_up_to(from: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    from.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 <= most {
        return Ok(text);
    }
    Err(too_large_error(most))
}

/// Says that there are more bytes than these.
fn too_large_error(most: u64) -> io::Error {
    let why = format!("is larger than {} MB, the limit for text in memory", most >> 20);
    io::Error::new(ErrorKind::FileTooLarge, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4 test vectors.
    #[test]
    fn known_digests() {
        assert_eq!(
            Digest::of_bytes(b"abc").to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            Digest::of_bytes(b"").to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn text_that_is_no_digest_is_refused() {
        assert_eq!("abc".parse::<Digest>(), Err(DigestParseError));
        assert_eq!("g".repeat(64).parse::<Digest>(), Err(DigestParseError));
    }

    /// A million letters "a", the third vector of FIPS 180-4, spans many blocks.
    #[test]
    fn a_file_longer_than_a_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, vec![b'a'; 1_000_000]).unwrap();
        let found = compute_file_checksum(&path).unwrap();
        assert_eq!(found.bytes, 1_000_000);
        assert_eq!(found.digest.to_string(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }

    #[test]
    fn what_has_no_end_has_a_most_of_bytes() {
        let exactly = hash_reader(&b"abc"[..], 3, &SilentProgress).unwrap();
        assert_eq!(exactly, FileChecksum { digest: Digest::of_bytes(b"abc"), bytes: 3 });
        let beyond = hash_reader(std::io::repeat(0), 3 << 20, &SilentProgress).unwrap_err();
        assert_eq!(beyond.kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn texts_have_a_most_of_bytes() {
        assert_eq!(read_text_up_to(&b"1234"[..], 4).unwrap(), "1234");
        assert_eq!(read_text_up_to(&b"12345"[..], 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let endless = read_text_up_to(std::io::repeat(b' '), 3 << 20).unwrap_err();
        assert!(endless.to_string().contains("larger than 3 MB"));
    }
}
