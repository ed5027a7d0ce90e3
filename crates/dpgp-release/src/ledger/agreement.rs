//! Whether the numbers of a release agree with each other.

use super::entry::LedgerEntry;
use dpgp_accounting::{gaussian_delta, gaussian_delta_at_most};

/// What `mu` and a delta may be off by, relative to themselves: they were computed from calibrations in doubles.
const PRECISION: f64 = 1e-6;

impl LedgerEntry {
    /// What contradicts what, if anything does: the exact delta at epsilon follows from `mu`, and is at most the delta claimed.
    ///
    /// Obligation: of an entry without exceptions, no `mu` that is off by more than 1e-6 agrees with the epsilon and the exact
    /// delta beside it, unless both deltas are 0 or 1 in doubles; the exact delta rises with `mu` (Balle and Wang 2018, Theorem 8).
    pub(super) fn contradiction(&self) -> Option<String> {
        let Self { mu, epsilon, delta, delta_exact, caveats, .. } = self;
        if !caveats.is_empty() {
            return None;
        }
        let least = gaussian_delta(1.0 / (mu * (1.0 - PRECISION)), *epsilon);
        let most = gaussian_delta_at_most(1.0 / (mu * (1.0 + PRECISION)), *epsilon);
        if *delta_exact < least * (1.0 - PRECISION) || *delta_exact > most * (1.0 + PRECISION) {
            return Some(format!("mu = {mu:?} and delta_exact = {delta_exact:?} contradict each other"));
        }
        (*delta_exact > delta * (1.0 + PRECISION))
            .then(|| format!("delta_exact = {delta_exact:?} is above delta = {delta:?}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::ledger::Ledger;

    /// One release with these numbers. Exact deltas at epsilon 1 of mpmath: 2.924272104856407e-6 at mu = 0.25.
    fn error(numbers: &str) -> String {
        let text = format!(
            "version = 2\nkey = \"\"\nseal = \"\"\n[[release]]\ntime = \"\"\nspec = \"\"\nspec_sha256 = \"\"\ntarget = \
             \"\"\npublic = []\nneighbours = {{ one-target-changes = 1.0 }}\n{numbers}"
        );
        Ledger::parse("l.toml".as_ref(), &text).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn numbers_that_contradict_each_other_are_refused() {
        let sound = "mu = 0.25\nepsilon = 1.0\ndelta_exact = 2.924272104856407e-6\ndelta = 3e-6\n";
        assert_eq!(error(sound), "");
        for (number, other, says) in [
            ("mu = 0.25", "mu = 0.24999", "contradict each other"),
            ("mu = 0.25", "mu = 0.25001", "contradict each other"),
            ("epsilon = 1.0", "epsilon = 1.0001", "contradict each other"),
            ("delta_exact = 2.9", "delta_exact = 2.8", "contradict each other"),
            ("delta = 3e-6", "delta = 2e-6", "is above delta"),
        ] {
            assert!(sound.contains(number));
            let told = error(&sound.replace(number, other));
            assert!(told.contains("release 1") && told.contains(says), "{other}: {told}");
        }
        // What has exceptions is not told by its mu, and says so.
        assert_eq!(error(&sound.replace("delta = 3e-6", "delta = 2e-6\ncaveats = [\"one\"]")), "");
    }

    /// Exact deltas of mpmath at a mu that is one part in a million smaller or greater, and a part in a million beyond.
    #[test]
    fn a_part_in_a_million_is_allowed() {
        let with =
            |delta: &str| error(&format!("mu = 0.25\nepsilon = 1.0\ndelta_exact = {delta}\ndelta = 3e-6\n"));
        for (within, beyond) in [
            ("2.9242150330099172e-6", "2.924213863324138e-6"),
            ("2.9243291776641718e-6", "2.9243303473960768e-6"),
        ] {
            assert_eq!(with(within), "");
            assert!(with(beyond).contains("contradict each other"), "{beyond}");
        }
    }

    /// A mu of a thousandth has no delta at epsilon 1 in doubles: the exponent of its density is below -500,000.
    #[test]
    fn a_delta_of_nothing_agrees() {
        assert_eq!(error("mu = 0.001\nepsilon = 1.0\ndelta_exact = 0.0\ndelta = 1e-6\n"), "");
    }
}
