//! What a stored result is addressed by.

use dpgp_spec::Identity;

/// The version of the numerics. Raise it with every change that adds a metric or moves a number by more than `dpgp check` tolerates, a part in
/// 10^9, which is more than rounding on another processor does: what was stored before is then computed again, and `dpgp explain` says
/// why.
pub const NUMERICS: u32 = 15;

/// SHA-256 of everything that determines a result.
pub type Key = Identity;

/// The key of one replicate of one cell: `sha256("dpgp 1" | numerics | seed | replicate | cell | data digests)`.
pub(crate) fn key(cell: Identity, seed: u32, replicate: u32, data: &[(String, String)]) -> Key {
    let digests: Vec<&str> = data.iter().map(|(_, digest)| digest.as_str()).collect();
    Identity::of(&format!("dpgp 1|{NUMERICS}|{seed}|{replicate}|{cell}|{}", digests.join("|")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_determines_a_result_is_in_its_key() {
        let cell = Identity::of("cell");
        let data = [("a.csv".to_owned(), "00ff".to_owned())];
        let all = [
            key(cell, 1, 0, &data),
            key(Identity::of("other"), 1, 0, &data),
            key(cell, 2, 0, &data),
            key(cell, 1, 1, &data),
            key(cell, 1, 0, &[]),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != one));
        }
        assert_eq!(all[0], Identity::of(&format!("dpgp 1|{NUMERICS}|1|0|{cell}|00ff")));
    }
}
