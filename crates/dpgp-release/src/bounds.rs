//! Bounds of a column, from released counts of its values in bins. They cost nothing more.

use super::{CountsFile, ReleaseError};

/// Bounds that follow from released counts, and what these cost.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleasedBounds {
    /// The column.
    pub column: String,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The `mu` of the counts: they are as private as one draw from `N(0, 1)` or `N(mu, 1)`.
    pub mu: f64,
    /// The guarantee of the counts, in words.
    pub guarantee: String,
}

/// The share of rows that may lie beyond each bound. On durations of bike trips, with their long tail, the errors of maps are within 4 % of
/// those with the best public bounds, and with one row in a hundred within 10 %.
const BEYOND: f64 = 0.02;

/// Numbers of neighbouring bins whose counts are added in the search for occupied bins.
const WINDOWS: [usize; 5] = [1, 2, 4, 8, 16];

/// The probability that noise alone is taken for rows anywhere.
const FALSE_ALARM: f64 = 0.01;

/// A noisy count beyond a bound is taken for rows if it exceeds this many standard deviations of its noise.
const NOTICED: f64 = 2.5;

impl CountsFile {
    /// Bounds of the one column whose values are counted, with about one row in fifty beyond each.
    ///
    /// # Errors
    /// [`ReleaseError::NotOneColumn`], or [`ReleaseError::NoBounds`] if no bin stands out from the noise.
    pub fn estimate_column_bounds(&self) -> Result<ReleasedBounds, ReleaseError> {
        let (column, edges) = self.single_column_bin_edges().ok_or(ReleaseError::NotOneColumn)?;
        let found = find_occupied_bin_range(self.noisy_counts(), self.noise_sd());
        let (first, last) = found.ok_or(ReleaseError::NoBounds { sd: self.noise_sd() })?;
        let (low, high) =
            (round_bound_outwards(edges[first], f64::floor), round_bound_outwards(edges[last], f64::ceil));
        let (mu, guarantee) = (self.gdp_mu(), self.guarantee().to_owned());
        Ok(ReleasedBounds { column: column.to_owned(), low, high, mu, guarantee })
    }
}

/// The bins from the first to before the last that hold nearly all rows: of noisy counts with noise of this standard deviation.
///
/// First the bins that certainly hold rows: among all sums of 1, 2, 4, 8 and 16 neighbouring counts, those above `z sd sqrt(length)`.
/// Noise alone passes one of `M` such limits with a probability of at most `M exp(-z^2 / 2) / 2`, which is one in a hundred at
/// `z = sqrt(2 ln(M / 0.02))`. From the outermost of them inwards the counts are then added up, until they are a fiftieth of all and two
/// and a half standard deviations of their own noise.
fn find_occupied_bin_range(counts: &[i64], sd: f64) -> Option<(usize, usize)> {
    let sums: Vec<i64> = std::iter::once(0)
        .chain(counts.iter().scan(0, |sum: &mut i64, count| {
            *sum = sum.saturating_add(*count);
            Some(*sum)
        }))
        .collect();
    let sum = |from: usize, to: usize| (sums[to] - sums[from]) as f64;
    let limits = (WINDOWS.len() * counts.len()) as f64;
    let z = (2.0 * (limits / (2.0 * FALSE_ALARM)).ln()).sqrt();
    let (mut first, mut last) = (usize::MAX, 0);
    for length in WINDOWS {
        let limit = z * sd * (length as f64).sqrt();
        let mut holding = (0..(counts.len() + 1).saturating_sub(length)).filter(|at| sum(*at, at + length) > limit);
        if let Some(at) = holding.next() {
            first = first.min(at);
            last = last.max(holding.next_back().unwrap_or(at) + length);
        }
    }
    if first >= last {
        return None;
    }
    let all = sum(first, last);
    let counts_for = |sum: f64, bins: usize| sum >= (BEYOND * all).max(NOTICED * sd * (bins as f64).sqrt());
    let low = (first + 1..=last).find(|end| counts_for(sum(first, *end), end - first)).map_or(first, |end| end - 1);
    let high =
        (first..last).rev().find(|start| counts_for(sum(*start, last), last - start)).map_or(last, |start| start + 1);
    (low < high).then_some((low, high))
}

/// Rounds a bound to three significant digits, outwards: `away` is `f64::floor` or `f64::ceil`.
fn round_bound_outwards(bound: f64, away: fn(f64) -> f64) -> f64 {
    if bound == 0.0 {
        return 0.0;
    }
    let power = bound.abs().log10().floor() as i32 - 2;
    let scaled = if power < 0 { bound * 10f64.powi(-power) } else { bound / 10f64.powi(power) };
    // An end that is a round number stays one.
    let nearest = scaled.round();
    let digits = if (scaled - nearest).abs() < 1e-9 * nearest.abs() { nearest } else { away(scaled) };
    format!("{digits}e{power}").parse().unwrap_or(bound)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_pcg::Pcg64;

    use super::*;

    /// Worked by hand: with hardly any noise, 1,000 rows of which 20 are beyond each bound.
    #[test]
    fn one_row_in_fifty_is_beyond_each_bound() {
        let mut counts = vec![0; 40];
        (counts[3], counts[4], counts[20], counts[30], counts[31]) = (10, 9, 961, 10, 10);
        // From below, 10 + 9 + 961 are the first that make 2 %, and end in bin 20; from above, 10 + 10 begin in bin 30.
        assert_eq!(find_occupied_bin_range(&counts, 0.1), Some((20, 31)));
        (counts[4], counts[20]) = (10, 960);
        assert_eq!(find_occupied_bin_range(&counts, 0.1), Some((4, 31)));
        assert_eq!(find_occupied_bin_range(&[0; 40], 0.1), None);
        assert_eq!(find_occupied_bin_range(&[7], 0.1), Some((0, 1)));
    }

    /// Noise alone gives bounds about once in a hundred draws, and never more than three in a hundred here.
    #[test]
    fn noise_alone_gives_no_bounds() {
        let (mut random, noise) = (Pcg64::seed_from_u64(5), Normal::new(0.0, 20.0).unwrap());
        let draws = 300;
        let found = (0..draws).filter(|_| {
            let counts: Vec<i64> = (0..960).map(|_| noise.sample(&mut random) as i64).collect();
            find_occupied_bin_range(&counts, 20.0).is_some()
        });
        let found = found.count();
        assert!(found <= 9, "{found} of {draws}");
    }

    /// Five thousand rows with the noise of a tenth of a budget of 1: at most eight in a hundred are beyond a bound, and the bounds reach no
    /// farther than bins with rows.
    #[test]
    fn few_rows_are_clipped() {
        let mut random = Pcg64::seed_from_u64(6);
        let (noise, rows) = (Normal::new(0.0, 19.0).unwrap(), Normal::new(300.0, 8.0).unwrap());
        for _ in 0..50 {
            let mut exact = vec![0i64; 960];
            (0..5000).for_each(|_| exact[rows.sample(&mut random) as usize] += 1);
            let counts: Vec<i64> = exact.iter().map(|count| count + noise.sample(&mut random) as i64).collect();
            let (first, last) = find_occupied_bin_range(&counts, 19.0).unwrap();
            let beyond = [exact[..first].iter().sum::<i64>(), exact[last..].iter().sum()];
            assert!(beyond.iter().all(|rows| *rows <= 400), "{beyond:?}");
            assert!(first > 300 - 56 && last < 300 + 56, "{first} {last}");
        }
    }

    #[test]
    fn bounds_are_rounded_away_from_the_rows() {
        for (bound, low, high) in [
            (4340.2, 4340.0, 4350.0),
            (-18.839, -18.9, -18.8),
            (0.0, 0.0, 0.0),
            (1e12, 1e12, 1e12),
            (-1e12, -1e12, -1e12),
            (8.302e-7, 8.3e-7, 8.31e-7),
            (999.9, 999.0, 1000.0),
        ] {
            assert_eq!((round_bound_outwards(bound, f64::floor), round_bound_outwards(bound, f64::ceil)), (low, high));
        }
    }
}
