//! What the numbers after `±` are.

use dpgp_spec::SpreadKind;

/// The spread of a row that has one.
pub(super) struct Spread {
    pub kind: SpreadKind,
    /// Over how many folds or replicates.
    pub repeats: usize,
}

/// The legend of all spreads of a table; empty where there is none.
pub(super) fn legend(spreads: &[Spread]) -> String {
    let kinds = [SpreadKind::SdFolds, SpreadKind::SdReplicates, SpreadKind::StandardError];
    let meanings: Vec<String> = kinds.into_iter().filter_map(|kind| meaning(kind, spreads)).collect();
    if meanings.is_empty() { String::new() } else { format!("±: one {}", meanings.join(", or one ")) }
}

fn meaning(kind: SpreadKind, spreads: &[Spread]) -> Option<String> {
    let mut repeats: Vec<usize> =
        spreads.iter().filter(|spread| spread.kind == kind).map(|spread| spread.repeats).collect();
    repeats.sort_unstable();
    repeats.dedup();
    let number = match repeats[..] {
        [] => return None,
        [one] => format!("{one} "),
        _ => String::new(),
    };
    Some(match kind {
        SpreadKind::SdFolds => format!("standard deviation over {number}folds"),
        SpreadKind::SdReplicates => format!("standard deviation over {number}replicates"),
        SpreadKind::StandardError | SpreadKind::None => "standard error of the mean".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(kind: SpreadKind, repeats: usize) -> Spread {
        Spread { kind, repeats }
    }

    #[test]
    fn each_kind_is_said_once() {
        let folds = [spread(SpreadKind::SdFolds, 5), spread(SpreadKind::SdFolds, 5)];
        assert_eq!(legend(&folds), "±: one standard deviation over 5 folds");
        let several = [spread(SpreadKind::SdReplicates, 3), spread(SpreadKind::SdReplicates, 4)];
        assert_eq!(legend(&several), "±: one standard deviation over replicates");
        let both = [spread(SpreadKind::StandardError, 7), spread(SpreadKind::SdFolds, 2)];
        assert_eq!(
            legend(&both),
            "±: one standard deviation over 2 folds, or one standard error of the mean"
        );
        assert_eq!(legend(&[]), "");
    }
}
