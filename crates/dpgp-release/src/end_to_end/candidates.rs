//! Which of two data sets the last bits of a release rule out.

use std::cmp::Ordering;

/// Two data sets that an attacker takes for possible, by the numbers of their releases without noise.
///
/// Obligation: where noise is added in doubles, the data set that a number was made of is never ruled out: some double has given
/// that very number. Another may be, as doubles near another number are differently spaced. Source: Mironov 2012, "On significance
/// of the least significant bits".
#[derive(Debug, Clone)]
pub(super) struct Candidates<'a> {
    /// One of the two.
    pub one: &'a [f64],
    /// The other.
    pub other: &'a [f64],
}

impl Candidates<'_> {
    /// Less if more numbers of a release rule out the one than the other; greater if it is the other way round.
    pub fn ruled_out(&self, released: &[f64]) -> Ordering {
        let (mut one, mut other) = (0, 0);
        for (place, number) in released.iter().enumerate() {
            one += usize::from(!is_reachable(*number, self.one[place]));
            other += usize::from(!is_reachable(*number, self.other[place]));
        }
        other.cmp(&one)
    }
}

/// Whether some double n has `fl(candidate + n) = output`: if any has, one of the three around their difference.
fn is_reachable(output: f64, candidate: f64) -> bool {
    let noise = output - candidate;
    [noise.next_down(), noise, noise.next_up()].iter().any(|noise| candidate + noise == output)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    use super::*;

    /// Noise on 0 reaches all doubles; below 1/2 noise on 1 reaches multiples of `2^-53` alone.
    #[test]
    fn doubles_that_noise_on_one_cannot_reach() {
        assert!(is_reachable(0.1, 0.0) && !is_reachable(2f64.powi(-60), 1.0) && is_reachable(0.25, 1.0));
    }

    #[test]
    fn noise_in_doubles_rules_out_the_wrong_one_alone() {
        let mut stream = Pcg64::seed_from_u64(1);
        let candidates = Candidates { one: &[0.0], other: &[1.0] };
        let mut wrong = 0;
        for _ in 0..200 {
            let noise: f64 = StandardNormal.sample(&mut stream);
            assert_ne!(candidates.ruled_out(&[noise]), Ordering::Less);
            wrong += usize::from(candidates.ruled_out(&[noise]) == Ordering::Greater);
            assert_ne!(candidates.ruled_out(&[1.0 + noise]), Ordering::Greater);
        }
        assert!(wrong > 40, "{wrong}");
    }

    /// Whole numbers are reached from all whole numbers.
    #[test]
    fn whole_numbers_rule_out_nothing() {
        let candidates = Candidates { one: &[0.0, 7.0], other: &[1.0, 7.0] };
        assert_eq!(candidates.ruled_out(&[-12.0, 30.0]), Ordering::Equal);
    }

    /// The first of three numbers speaks against 1, the others against nothing.
    #[test]
    fn the_one_with_more_impossible_numbers_is_ruled_out() {
        let (small, zeros, ones) = (2f64.powi(-60), [0.0; 3], [1.0, 0.0, 0.0]);
        let released = [small, 0.25, 0.5];
        assert_eq!(Candidates { one: &ones, other: &zeros }.ruled_out(&released), Ordering::Less);
        assert_eq!(Candidates { one: &zeros, other: &ones }.ruled_out(&released), Ordering::Greater);
        // One number against each.
        let other = [0.0, 1.0, 0.0];
        assert_eq!(Candidates { one: &ones, other: &other }.ruled_out(&[small, small, 0.5]), Ordering::Equal);
    }
}
