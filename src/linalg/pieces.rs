//! Pieces of one large problem, side by side.

use rayon::prelude::*;

/// Does something to each piece, with its place; side by side, unless this is one of the threads of a pool already: there a thread that
/// waits for others would begin another cell, with matrices of its own.
///
/// ```
/// use dpgp::linalg::each_piece;
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
