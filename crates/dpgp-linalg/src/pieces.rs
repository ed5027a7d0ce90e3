//! Pieces of one large problem, side by side.

use faer::MatMut;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Does something to each piece, with its place; side by side, unless this is one of the threads of a pool already: there a thread that
/// waits for others would begin another cell, with matrices of its own.
///
/// ```
/// use dpgp_linalg::each_piece;
/// let mut numbers = [0, 0, 0];
/// each_piece(numbers.chunks_mut(2), |place, piece| piece.fill(place + 5));
/// assert_eq!(numbers, [5, 5, 6]);
/// ```
pub fn each_piece<'a, T: Send + 'a>(
    pieces: impl Iterator<Item = &'a mut [T]>,
    act: impl Fn(usize, &mut [T]) + Sync,
) {
    let pieces: Vec<(usize, &mut [T])> = pieces.enumerate().collect();
    let alone = pieces.len() > 1 && rayon::current_thread_index().is_none();
    match alone {
        true => pieces.into_par_iter().for_each(|(place, piece)| act(place, piece)),
        false => pieces.into_iter().for_each(|(place, piece)| act(place, piece)),
    }
}

/// The least and the greatest number of columns of a tile: a quarter of them all where that lies between. What is done once for each tile,
/// such as the packing of the other factor of a product, is to cost little.
const TILE: usize = 256;
const WIDE_TILE: usize = 512;

/// Does something to each tile of neighbouring columns of a matrix, with the place of its first column; side by side, where
/// [`each_piece`] is.
pub(super) fn each_tile(matrix: &mut DMatrix<f64>, act: impl Fn(usize, MatMut<'_, f64>) + Sync) {
    let (rows, columns) = matrix.shape();
    if rows == 0 {
        return;
    }
    let width = columns.div_ceil(4).clamp(TILE, WIDE_TILE);
    each_piece(matrix.as_mut_slice().chunks_mut(width * rows), |place, tile| {
        let columns = tile.len() / rows;
        act(place * width, MatMut::from_column_major_slice_mut(tile, rows, columns));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_neighbouring_columns() {
        let mut matrix = DMatrix::zeros(2, TILE + 3);
        each_tile(&mut matrix, |start, mut tile| {
            (0..tile.ncols()).for_each(|j| tile[(1, j)] = (start + j) as f64);
        });
        assert!(
            matrix.column_iter().enumerate().all(|(j, column)| column[0] == 0.0 && column[1] == j as f64)
        );
        each_tile(&mut DMatrix::zeros(0, 4), |_, _| unreachable!("a matrix without rows has no tiles"));
    }
}
