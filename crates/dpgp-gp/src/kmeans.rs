//! k-means clustering of public inputs, which places inducing inputs in dense regions.

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

/// How the clustering runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KMeansOptions {
    /// Number of centres.
    pub centres: usize,
    /// Independent restarts; the one with the least inertia wins.
    pub restarts: usize,
    /// Most Lloyd steps of one restart.
    pub steps: usize,
}

/// The centres (m x d) of `inputs` (n x d), in lexicographic order: k-means++ seeding
/// (Arthur and Vassilvitskii 2007), then Lloyd's steps until the assignment no longer changes.
/// If there are no more distinct inputs than centres, the distinct inputs themselves.
///
/// ```
/// use dpgp_gp::{KMeansOptions, kmeans};
/// use nalgebra::DMatrix;
/// use rand::SeedableRng;
///
/// // Two pairs far apart: the centres are the means of the pairs.
/// let inputs = DMatrix::from_column_slice(4, 1, &[10.0, 0.0, 11.0, 1.0]);
/// let options = KMeansOptions { centres: 2, restarts: 5, steps: 100 };
/// let centres = kmeans(&inputs, options, &mut rand_pcg::Pcg64::seed_from_u64(1));
/// assert_eq!(centres.as_slice(), [0.5, 10.5]);
/// ```
pub fn kmeans(inputs: &DMatrix<f64>, options: KMeansOptions, rng: &mut impl Rng) -> DMatrix<f64> {
    let points: Vec<Vec<f64>> = inputs.row_iter().map(|r| r.iter().copied().collect()).collect();
    let mut best = distinct_points(&points);
    if best.len() > options.centres {
        let mut least = f64::INFINITY;
        for _ in 0..options.restarts.max(1) {
            let centres = run_lloyd_steps(&points, draw_seed_centres(&points, options.centres, rng), options.steps);
            let inertia: f64 = points.iter().map(|p| nearest_centre(p, &centres).1).sum();
            if inertia < least {
                (least, best) = (inertia, centres);
            }
        }
        // An order of their own, so that the model does not depend on which seed found which centre.
        sort_points(&mut best);
    }
    DMatrix::from_fn(best.len(), inputs.ncols(), |i, j| best[i][j])
}

/// The points without repetitions, in lexicographic order.
fn distinct_points(points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut sorted = points.to_vec();
    sort_points(&mut sorted);
    sorted.dedup();
    sorted
}

/// Lexicographic order; inputs are finite, and so all of them compare.
fn sort_points(points: &mut [Vec<f64>]) {
    points.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
}

/// k-means++: each further seed is drawn with probability proportional to the squared distance to
/// the nearest seed so far.
fn draw_seed_centres(points: &[Vec<f64>], count: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    let mut seeds = vec![points[rng.random_range(0..points.len())].clone()];
    let mut distances = vec![f64::INFINITY; points.len()];
    while seeds.len() < count {
        if let Some(latest) = seeds.last() {
            for (point, distance) in points.iter().zip(&mut distances) {
                *distance = squared_distance_below(point, latest, *distance).unwrap_or(*distance);
            }
        }
        let mut left = rng.random::<f64>() * distances.iter().sum::<f64>();
        let drawn = distances.iter().position(|d| {
            left -= d;
            left < 0.0
        });
        // Rounding may leave the draw behind the last point; the farthest one is then as likely as any.
        let seed = drawn.or_else(|| (0..points.len()).max_by(|&i, &j| distances[i].total_cmp(&distances[j])));
        seeds.push(points[seed.unwrap_or(0)].clone());
    }
    seeds
}

/// Lloyd's steps: points to their nearest centres, centres to the means of their points. The inertia never rises.
fn run_lloyd_steps(points: &[Vec<f64>], mut centres: Vec<Vec<f64>>, steps: usize) -> Vec<Vec<f64>> {
    let mut assignment = vec![usize::MAX; points.len()];
    for _ in 0..steps {
        let next: Vec<usize> = points.iter().map(|p| nearest_centre(p, &centres).0).collect();
        if next == assignment {
            break;
        }
        assignment = next;
        move_centres_to_means(points, &assignment, &mut centres);
    }
    centres
}

/// Moves each centre to the mean of its points; a centre without points stays where it is. One pass over the points, which of images
/// are far more than a cache holds.
fn move_centres_to_means(points: &[Vec<f64>], assignment: &[usize], centres: &mut [Vec<f64>]) {
    let mut members = vec![0usize; centres.len()];
    for (point, centre) in points.iter().zip(assignment) {
        if members[*centre] == 0 {
            centres[*centre].fill(0.0);
        }
        members[*centre] += 1;
        centres[*centre].iter_mut().zip(point).for_each(|(sum, value)| *sum += value);
    }
    for (centre, members) in centres.iter_mut().zip(members).filter(|(_, members)| *members > 0) {
        centre.iter_mut().for_each(|sum| *sum /= members as f64);
    }
}

/// The nearest centre and the squared distance to it.
fn nearest_centre(point: &[f64], centres: &[Vec<f64>]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (c, centre) in centres.iter().enumerate() {
        if let Some(squared) = squared_distance_below(point, centre, best.1) {
            best = (c, squared);
        }
    }
    best
}

/// Coordinates that are summed side by side.
const LANES: usize = 8;

/// The squared distance of two points, if it is less than a limit; the sum is given up as soon as it is not.
fn squared_distance_below(a: &[f64], b: &[f64], limit: f64) -> Option<f64> {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    // Eight sums side by side, which the compiler turns into vector instructions; their order is fixed, and with it the bits.
    let mut sum: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| (x - y) * (x - y)).sum();
    for (a, b) in a_blocks.chunks(4).zip(b_blocks.chunks(4)) {
        let mut lanes = [0.0; LANES];
        for (a, b) in a.iter().zip(b) {
            for lane in 0..LANES {
                lanes[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
            }
        }
        sum += lanes.iter().sum::<f64>();
        // Squares only add: of images with 784 pixels most are given up after some tens.
        if sum >= limit {
            return None;
        }
    }
    (sum < limit).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    const OPTIONS: KMeansOptions = KMeansOptions { centres: 3, restarts: 10, steps: 300 };

    #[test]
    fn finds_three_separate_clusters() {
        let points = [0.0, 0.1, -0.1, 10.0, 10.2, 9.8, 20.0, 20.5, 19.5];
        let inputs = DMatrix::from_column_slice(9, 1, &points);
        let centres = kmeans(&inputs, OPTIONS, &mut Pcg64::from_seed([7; 32]));
        let expected = DMatrix::from_column_slice(3, 1, &[0.0, 10.0, 20.0]);
        assert!((centres - expected).amax() < 1e-12);
    }

    #[test]
    fn few_distinct_inputs_are_their_own_centres() {
        let inputs = DMatrix::from_column_slice(5, 1, &[2.0, 1.0, 2.0, 1.0, 2.0]);
        let centres = kmeans(&inputs, OPTIONS, &mut Pcg64::from_seed([7; 32]));
        assert_eq!(centres.as_slice(), [1.0, 2.0]);
    }

    #[test]
    fn the_same_stream_gives_the_same_centres() {
        let inputs = DMatrix::from_fn(60, 2, |i, j| ((i * 37 + j * 11) % 101) as f64);
        let run = || kmeans(&inputs, OPTIONS, &mut Pcg64::from_seed([9; 32]));
        assert_eq!(run(), run());
    }

    /// 1 + 4 + 9 + .. over any number of coordinates, in blocks and beside them; given up where it is not below the limit.
    #[test]
    fn squared_distances_of_any_length() {
        let point: Vec<f64> = (1..=80).map(f64::from).collect();
        for d in 1..=80usize {
            let (zero, sum) = (vec![0.0; d], (d * (d + 1) * (2 * d + 1) / 6) as f64);
            assert_eq!(squared_distance_below(&point[..d], &zero, f64::INFINITY), Some(sum), "{d}");
            assert_eq!(squared_distance_below(&point[..d], &zero, sum), None);
            assert_eq!(squared_distance_below(&point[..d], &zero, sum + 1.0), Some(sum));
        }
    }
}
