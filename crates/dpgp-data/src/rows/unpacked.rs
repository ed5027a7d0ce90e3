//! Unpacks text: of a row file in gzip while it is read, and of the table in a zip archive.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::source::{CountingFileReader, ReadFraction};
use crate::DataError;
use crate::table_error::TableError;

/// Bytes that are read at a time, packed or not.
const BUFFER: usize = 1 << 20;

/// The text of a file: unpacked if the name of the file ends in `.gz`, in memory that does not depend on its length.
pub(crate) struct DecompressingReader {
    from: Box<dyn BufRead + Send>,
    share: ReadFraction,
}

/// The text of a gzip file, of one member or several. Zeros behind a member are the rest of a block of a tape or a disk, and are passed
/// over, as by `gzip`.
struct GunzipReader<R> {
    /// The member that is read; none at the end.
    member: Option<GzDecoder<R>>,
}

/// A file that is no gzip, or is damaged or cut off.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct DamagedGzipError(io::Error);

impl DecompressingReader {
    /// Opens a file.
    ///
    /// # Errors
    /// As [`CountingFileReader::open`].
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let bytes = CountingFileReader::open(path)?;
        let share = bytes.read_fraction_handle();
        let whole = BufReader::with_capacity(BUFFER, bytes);
        let from: Box<dyn BufRead + Send> = match has_gzip_ending(path) {
            true => Box::new(BufReader::with_capacity(BUFFER, GunzipReader::new(whole))),
            false => Box::new(whole),
        };
        Ok(Self { from, share })
    }

    /// The share of the file that was read, at most 1: of its bytes as they are stored.
    pub fn read_fraction(&self) -> f64 {
        self.share.get()
    }
}

/// Whether a file is text that gzip packed, by its name.
pub(crate) fn has_gzip_ending(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"))
}

impl Read for DecompressingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.from.read(buffer)
    }
}

impl BufRead for DecompressingReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.from.consume(bytes);
    }
}

impl<R: BufRead> GunzipReader<R> {
    fn new(from: R) -> Self {
        Self { member: Some(GzDecoder::new(from)) }
    }
}

impl<R: BufRead> Read for GunzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let read = member.read(buffer).map_err(classify_gzip_error)?;
            if read > 0 {
                return Ok(read);
            }
            if !skip_zeros(member.get_mut())? {
                self.member = None;
            } else if let Some(ended) = self.member.take() {
                self.member = Some(GzDecoder::new(ended.into_inner()));
            }
        }
        Ok(0)
    }
}

/// Passes over zeros; whether anything follows them.
fn skip_zeros(from: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = match from.fill_buf() {
            Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let (is_end, is_other) = (bytes.is_empty(), zeros < bytes.len());
        from.consume(zeros);
        if is_end || is_other {
            return Ok(is_other);
        }
    }
}

/// Tells damage from what the system says, which never has these kinds and no number.
fn classify_gzip_error(cause: io::Error) -> io::Error {
    let of_contents = [ErrorKind::InvalidInput, ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
    if cause.raw_os_error().is_some() || !of_contents.contains(&cause.kind()) {
        return cause;
    }
    io::Error::new(ErrorKind::InvalidData, DamagedGzipError(cause))
}

/// The most bytes that are unpacked: a small archive may hold any number of them.
const MOST_UNPACKED: u64 = 1 << 30;

/// The bytes of the first CSV file of an archive, those that the system of the archive adds apart.
///
/// # Errors
/// [`TableError::Unpacked`] for more than 1 GiB; [`TableError::Body`] for an archive that cannot be read, or holds no CSV file.
pub(crate) fn unzip_first_csv(file: File) -> Result<Vec<u8>, TableError> {
    read_first_csv(file, MOST_UNPACKED)
}

fn read_first_csv(archive: impl Read + Seek, most: u64) -> Result<Vec<u8>, TableError> {
    let mut archive = zip::ZipArchive::new(archive).map_err(archive_error)?;
    for place in 0..archive.len() {
        let entry = archive.by_index(place).map_err(archive_error)?;
        let name = entry.name().map_err(archive_error)?.to_string();
        if name.to_lowercase().ends_with(".csv") && !name.starts_with("__MACOSX") {
            return if entry.size() > most { Err(TableError::Unpacked(most >> 20)) } else { read_limited(entry, most) };
        }
    }
    Err(TableError::Body("the archive holds no CSV file".into()))
}

/// All bytes. An archive may hold more than it says.
fn read_limited(entry: impl Read, most: u64) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    entry.take(most + 1).read_to_end(&mut bytes).map_err(archive_error)?;
    if bytes.len() as u64 > most { Err(TableError::Unpacked(most >> 20)) } else { Ok(bytes) }
}

fn archive_error(cause: impl std::error::Error + Send + Sync + 'static) -> TableError {
    TableError::Body(Box::new(cause))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv.GZ");
        std::fs::write(&path, bytes).unwrap();
        let (mut text, mut all) = (DecompressingReader::open(&path).unwrap(), Vec::new());
        text.read_to_end(&mut all)?;
        assert_eq!(text.read_fraction(), 1.0);
        Ok(all)
    }

    #[test]
    fn members_follow_one_another() {
        let both = [packed(b"x,y\n1,"), packed(b""), packed(b"2\n")].concat();
        assert_eq!(unpacked(&both).unwrap(), b"x,y\n1,2\n");
    }

    /// A tape and a disk fill their last block with zeros. `gzip` and Python pass over them, and Python over those between members, too.
    #[test]
    fn zeros_behind_a_member_are_no_text() {
        let (one, other) = (packed(b"x,y\n1,"), packed(b"2\n"));
        for zeros in [1, 7, 511, 3 << 20] {
            let zeros = vec![0; zeros];
            assert_eq!(unpacked(&[&one[..], &other, &zeros].concat()).unwrap(), b"x,y\n1,2\n");
            assert_eq!(unpacked(&[&one[..], &zeros, &other, &zeros].concat()).unwrap(), b"x,y\n1,2\n");
            assert!(unpacked(&[&one[..], &zeros, b"more"].concat()).is_err());
            // Zeros alone, and zeros before the first member, are no gzip file.
            assert!(unpacked(&zeros).is_err());
            assert!(unpacked(&[&zeros[..], &one].concat()).is_err());
            // Nor do they make a whole file of one that is cut off before its check sum and its length, which ends in zeros.
            assert!(unpacked(&[&one[..one.len() - 8], &zeros].concat()).is_err());
        }
    }

    /// Each byte of a file is there for something: a file that is cut off or has another byte is no shorter text.
    #[test]
    fn damage_is_found() {
        let text: Vec<u8> = (0..200u32).flat_map(|row| format!("{}\n", row * row).into_bytes()).collect();
        let good = packed(&text);
        for cut in 1..good.len() {
            let cause = unpacked(&good[..cut]).unwrap_err();
            assert!(cause.get_ref().is_some_and(|cause| cause.is::<DamagedGzipError>()), "{cut}: {cause}");
        }
        // The bytes of the header before 10 hold a time, a level and a system, which are nobody's rows.
        for place in (0..3).chain(10..good.len()) {
            let mut bad = good.clone();
            bad[place] ^= 0x10;
            assert!(unpacked(&bad).map_or(true, |found| found == text), "{place}");
        }
        assert!(unpacked(&[&good[..], b"more"].concat()).is_err());
    }

    fn archive(bytes: usize) -> Cursor<Vec<u8>> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("rows.csv", SimpleFileOptions::default()).unwrap();
        archive.write_all(&vec![b'1'; bytes]).unwrap();
        archive.finish().unwrap()
    }

    #[test]
    fn no_more_is_unpacked_than_the_limit() {
        let most = 3 << 20;
        assert_eq!(read_first_csv(archive(most), most as u64).unwrap().len(), most);
        let bomb = archive(most + 1);
        assert!(bomb.get_ref().len() < most / 100);
        assert!(matches!(read_first_csv(bomb, most as u64), Err(TableError::Unpacked(3))));
        let unsaid = read_limited(std::io::repeat(b'1'), most as u64);
        assert!(matches!(unsaid, Err(TableError::Unpacked(3))));
        assert!(read_first_csv(Cursor::new(b"no archive".to_vec()), 1).is_err());
    }
}
