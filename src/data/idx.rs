//! Arrays of bytes in the IDX format of the MNIST files, compressed with gzip.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use super::error::{Action, DataError, Doing};
use super::table_error::TableError;

/// The first three bytes: two zeros, then the code of unsigned bytes.
const MAGIC: [u8; 3] = [0, 0, 8];
/// The most bytes that an array may hold, against damaged headers.
const MOST: usize = 1 << 30;

/// An array of bytes; the last dimension varies fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdxArray {
    /// The length of each dimension.
    pub shape: Vec<usize>,
    /// The elements.
    pub bytes: Vec<u8>,
}

impl IdxArray {
    /// Reads the file at `path`: three magic bytes, the number of dimensions, their lengths as big-endian 32-bit
    /// numbers, the elements.
    ///
    /// # Errors
    /// [`DataError::Io`] when it cannot be read or is no gzip, [`DataError::Table`] when it is no such array.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let mut whole = Vec::new();
        let file = File::open(path).doing(Action::Read, path)?;
        GzDecoder::new(file).read_to_end(&mut whole).doing(Action::Read, path)?;
        Self::parse(whole).map_err(|reason| DataError::table(path, TableError::NotIdx(reason)))
    }

    fn parse(mut whole: Vec<u8>) -> Result<Self, &'static str> {
        let Some((head, rest)) = whole.split_first_chunk::<4>() else { return Err("it has no header") };
        if head[..3] != MAGIC {
            return Err("it does not begin as an array of bytes does");
        }
        let dimensions = usize::from(head[3]);
        let Some(lengths) = rest.get(..4 * dimensions) else { return Err("its header is cut off") };
        let (lengths, _) = lengths.as_chunks::<4>();
        let shape: Vec<usize> = lengths.iter().map(|l| u32::from_be_bytes(*l) as usize).collect();
        let size = shape.iter().try_fold(1usize, |n, l| n.checked_mul(*l)).filter(|n| *n <= MOST);
        if size != Some(rest.len() - 4 * dimensions) {
            return Err("it holds another number of elements than its header says");
        }
        whole.drain(..4 + 4 * dimensions);
        Ok(Self { shape, bytes: whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_or_refused() {
        let good = vec![0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6];
        let array = IdxArray::parse(good.clone()).unwrap();
        assert_eq!((array.shape, array.bytes), (vec![2, 3], vec![1, 2, 3, 4, 5, 6]));
        for cut in 0..good.len() {
            assert!(IdxArray::parse(good[..cut].to_vec()).is_err(), "{cut}");
        }
        let floats = [vec![0, 0, 13], good[3..].to_vec()].concat();
        assert!(IdxArray::parse(floats).is_err());
    }
}
