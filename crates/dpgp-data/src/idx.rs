//! Gzipped byte arrays in the IDX format of the MNIST files, and scaling of grey images.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use super::error::{DataError, FileAction, IoErrorContext};
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
        let file = File::open(path).with_io_context(FileAction::Read, path)?;
        let whole = read_announced_idx_bytes(GzDecoder::new(file)).with_io_context(FileAction::Read, path)?;
        Self::parse(whole).map_err(|reason| DataError::from_table_error(path, TableError::NotIdx(reason)))
    }

    fn parse(mut whole: Vec<u8>) -> Result<Self, &'static str> {
        let Some((head, rest)) = whole.split_first_chunk::<4>() else { return Err("it has no header") };
        if head[..3] != MAGIC {
            return Err("it does not begin with the header of a byte array");
        }
        let dimensions = usize::from(head[3]);
        let Some(lengths) = rest.get(..4 * dimensions) else { return Err("its header is truncated") };
        let (lengths, _) = lengths.as_chunks::<4>();
        let shape: Vec<usize> = lengths.iter().map(|l| u32::from_be_bytes(*l) as usize).collect();
        let Some(size) = element_count(&shape) else {
            return Err("its header declares more than 1 GiB");
        };
        if size != rest.len() - 4 * dimensions {
            return Err("its number of elements differs from the one in its header");
        }
        whole.drain(..4 + 4 * dimensions);
        Ok(Self { shape, bytes: whole })
    }
}

/// The elements of an array of this shape, at most [`MOST`].
fn element_count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, l| n.checked_mul(*l)).filter(|n| *n <= MOST)
}

/// Reads as many bytes as a header announces, and one more if there is one: a small file may unpack to any length.
fn read_announced_idx_bytes(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    from.by_ref().take(4).read_to_end(&mut whole)?;
    let dimensions = whole.get(3).copied().map_or(0, u64::from);
    from.by_ref().take(4 * dimensions).read_to_end(&mut whole)?;
    let (lengths, _) = whole.get(4..).unwrap_or_default().as_chunks::<4>();
    let shape: Vec<usize> = lengths.iter().map(|l| u32::from_be_bytes(*l) as usize).collect();
    from.take(element_count(&shape).map_or(0, |size| size as u64 + 1)).read_to_end(&mut whole)?;
    Ok(whole)
}

/// Weights of a linear map from the pixels along a side to fewer of them.
///
/// Output pixel i is the mean of the input pixels weighted by a triangle around its middle whose half width is the
/// scale `from / to`, cut at the border: bilinear interpolation, antialiased.
#[derive(Debug, Clone)]
pub struct ImageDownscaler {
    from: usize,
    /// One for each output pixel.
    taps: Vec<PixelWeights>,
}

/// The input pixels that an output pixel is a mean of.
#[derive(Debug, Clone)]
struct PixelWeights {
    first: usize,
    weights: Vec<f64>,
}

impl ImageDownscaler {
    /// From `from` pixels along a side to `to`, at most as many.
    pub fn new(from: usize, to: usize) -> Self {
        let scale = from as f64 / to as f64;
        let taps = (0..to).map(|i| {
            let middle = (i as f64 + 0.5) * scale;
            let all = (0..from).map(|j| (1.0 - ((j as f64 + 0.5 - middle) / scale).abs()).max(0.0));
            let first = all.clone().take_while(|weight| *weight <= 0.0).count();
            let mut weights: Vec<f64> = all.filter(|weight| *weight > 0.0).collect();
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            PixelWeights { first, weights }
        });
        Self { from, taps: taps.collect() }
    }

    /// Scales a square image, row by row, then column by column.
    pub fn scale_image(&self, image: &[u8]) -> Vec<f64> {
        let rows = image.chunks_exact(self.from).map(|row| self.scale_line(|j| f64::from(row[j])));
        let rows: Vec<Vec<f64>> = rows.collect();
        let columns: Vec<Vec<f64>> = (0..self.taps.len()).map(|c| self.scale_line(|j| rows[j][c])).collect();
        (0..self.taps.len()).flat_map(|r| columns.iter().map(move |column| column[r])).collect()
    }

    fn scale_line(&self, pixel: impl Fn(usize) -> f64) -> Vec<f64> {
        let taps = self.taps.iter();
        taps.map(|tap| tap.weights.iter().enumerate().map(|(k, w)| w * pixel(tap.first + k)).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes read from a text without end after a header.
    fn read_of_endless(lengths: &[u32]) -> usize {
        let mut header = vec![0, 0, 8, lengths.len() as u8];
        lengths.iter().for_each(|length| header.extend(length.to_be_bytes()));
        read_announced_idx_bytes(header.as_slice().chain(io::repeat(7))).unwrap().len() - header.len()
    }

    /// No more than one byte beyond what the header says, and nothing where that is too much: 2^32 - 1 twice is 2^64 nearly.
    #[test]
    fn endless_files_are_read_as_far_as_their_header() {
        assert_eq!(read_of_endless(&[2, 3]), 7);
        assert_eq!(read_of_endless(&[u32::MAX, u32::MAX]), 0);
        assert_eq!(read_of_endless(&[1 << 15, 1 << 15, 2]), 0);
        let huge = [&[0, 0, 8, 2][..], &[255; 8][..]].concat();
        assert!(IdxArray::parse(huge).is_err_and(|reason| reason.contains("1 GiB")));
    }

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

    #[test]
    fn constants_stay_and_ramps_stay_ramps() {
        let scale = ImageDownscaler::new(28, 15);
        assert!(scale.scale_image(&[200; 784]).iter().all(|p| (p - 200.0).abs() < 1e-12));
        let ramp: Vec<u8> = (0..784).map(|i| (i % 28) as u8 * 4).collect();
        let small = scale.scale_image(&ramp);
        // Away from the border the middle of output pixel i is at 28/15 (i + 1/2) - 1/2 input pixels.
        let steps: Vec<f64> = small[3..12].windows(2).map(|w| w[1] - w[0]).collect();
        assert!(steps.iter().all(|s| (s / (4.0 * 28.0 / 15.0) - 1.0).abs() < 0.2), "{steps:?}");
    }

    /// Halving: the weights of two interior pixels by hand are 1/8, 3/8, 3/8, 1/8.
    #[test]
    fn halving_has_the_weights_of_the_triangle() {
        let scale = ImageDownscaler::new(8, 4);
        let PixelWeights { first, weights } = &scale.taps[1];
        assert_eq!((*first, weights.as_slice()), (1, [0.125, 0.375, 0.375, 0.125].as_slice()));
        let dot: Vec<u8> = (0..64).map(|i| u8::from(i == 3 * 8 + 2) * 64).collect();
        assert_eq!(scale.scale_image(&dot)[4 + 1], 64.0 * 0.375 * 0.375);
    }
}
