//! Compares a result with a number from another source.

use super::predictive::PredictiveInterval;
use dpgp_spec::{ReferenceValue, SpreadKind};
use dpgp_task::MetricSummary;

/// The verdict on a number beside ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberVerdict {
    /// Within the central 95 % of our runs.
    Agrees,
    /// Outside.
    Differs,
    /// The interval is wider than the effect that matters.
    Inconclusive,
    /// Our replicates do not determine the interval.
    NotJudged,
    /// It would agree, but a setting was chosen to make it so.
    Fitted,
    /// Computed from other data than the paper's.
    StandIn,
    /// There is no such number.
    None,
}

impl NumberVerdict {
    const ALL: [Self; 7] =
        [Self::Agrees, Self::Differs, Self::Inconclusive, Self::NotJudged, Self::Fitted, Self::StandIn, Self::None];

    /// The verdict of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// Its mark beside a printed number.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Agrees => "✓",
            Self::Differs => "✗",
            Self::Inconclusive | Self::NotJudged => "~",
            Self::Fitted => "≈",
            Self::StandIn => "○",
            Self::None => "",
        }
    }

    /// Its name, as result tables show it; empty where nothing stands beside the row.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Inconclusive => "inconclusive",
            Self::NotJudged => "not-judged",
            Self::Fitted => "fitted",
            Self::StandIn => "stand-in",
            Self::None => "",
        }
    }
}

/// The conditions of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparisonConditions {
    /// Other data than the paper's are used.
    pub stand_in: bool,
    /// The settings are reduced: a difference shows nothing.
    pub reduced: bool,
}

/// A number beside ours, and its verdict.
#[derive(Debug, Clone)]
pub struct ReferenceComparison {
    /// The number.
    pub counterpart: ReferenceValue,
    /// The interval of another of our runs; none if replicates do not determine it.
    pub predictive: Option<PredictiveInterval>,
    /// The verdict on the number.
    pub verdict: NumberVerdict,
    /// The verdict on its spread.
    pub spread_verdict: NumberVerdict,
}

impl ReferenceComparison {
    /// Judges a number by the replicates of a row.
    pub fn new(row: &MetricSummary, counterpart: &ReferenceValue, conditions: ComparisonConditions) -> Self {
        let predictive = predictive_interval(row, counterpart);
        let verdict = verdict_from_interval(predictive.as_ref(), counterpart, conditions);
        let spread = counterpart.spread.and_then(|spread| {
            let interval = spread_interval(row, counterpart)?.widen_by_rounding(counterpart.precision);
            // No setting was chosen so that a spread fits.
            let plain = ReferenceValue { fitted: None, ..counterpart.clone() };
            Some(adjust_verdict(interval.verdict(spread, None), &plain, conditions))
        });
        let spread_verdict = spread.unwrap_or(NumberVerdict::None);
        Self { counterpart: counterpart.clone(), predictive, verdict, spread_verdict }
    }
}

impl ReferenceComparison {
    /// The share of our runs that lie farther out; none if nothing is random, or if agreement shows nothing.
    pub fn p_value(&self) -> Option<f64> {
        match (self.verdict, &self.counterpart.fitted) {
            (NumberVerdict::StandIn | NumberVerdict::None, _) | (_, Some(_)) => None,
            _ => self.predictive.as_ref()?.p_value(self.counterpart.value),
        }
    }

    /// The ratio of our number to the other; none for a zero.
    pub fn ratio(&self, ours: f64) -> Option<f64> {
        let ratio = ours / self.counterpart.value;
        (self.counterpart.value != 0.0 && ratio.is_finite()).then_some(ratio)
    }

    /// The distance of our mean above the number, in standard deviations of one run; none if nothing is random, or if
    /// the data are not the paper's.
    pub fn z_score_of_ours(&self) -> Option<f64> {
        match self.verdict {
            NumberVerdict::StandIn | NumberVerdict::None => None,
            _ => self.predictive.as_ref()?.z_score_of_centre(self.counterpart.value),
        }
    }
}

/// The verdict on a number from the interval of another run, if that is known.
pub fn verdict_from_interval(
    interval: Option<&PredictiveInterval>,
    counterpart: &ReferenceValue,
    conditions: ComparisonConditions,
) -> NumberVerdict {
    let verdict = interval.map(|interval| interval.verdict(counterpart.value, counterpart.effect));
    adjust_verdict(verdict.unwrap_or(NumberVerdict::NotJudged), counterpart, conditions)
}

/// The interval for a number like the counterpart, as it would be printed. Folds of a single replicate do not show how
/// far another split would move their mean.
fn predictive_interval(row: &MetricSummary, counterpart: &ReferenceValue) -> Option<PredictiveInterval> {
    if row.undefined.is_some() || (row.replicates.len() == 1 && row.spread_kind == SpreadKind::SdFolds) {
        return None;
    }
    let interval = PredictiveInterval::from_replicates(&row.replicates, counterpart.runs);
    Some(interval.widen_by_rounding(counterpart.precision).widened(counterpart.tolerance.unwrap_or(0.0)))
}

/// The interval for a spread like the counterpart's; none if our rows do not determine it.
fn spread_interval(row: &MetricSummary, counterpart: &ReferenceValue) -> Option<PredictiveInterval> {
    let several = row.replicates.len() > 1 && row.undefined.is_none();
    match (counterpart.spread_kind, counterpart.count) {
        (SpreadKind::SdFolds, _) if several && !row.fold_spreads.is_empty() => {
            Some(PredictiveInterval::from_replicates(&row.fold_spreads, 1))
        }
        // Over the folds of a run, if it has any.
        (SpreadKind::StandardError, Some(count)) if several && count > 1 && !row.fold_spreads.is_empty() => {
            Some(PredictiveInterval::from_replicates(&row.fold_spreads, 1).scaled(1.0 / f64::from(count).sqrt()))
        }
        (SpreadKind::SdReplicates, Some(count)) if several && count > 1 => {
            Some(PredictiveInterval::for_spread(&row.replicates, count))
        }
        (SpreadKind::StandardError, Some(count)) if several && count > 1 => {
            Some(PredictiveInterval::for_spread(&row.replicates, count).scaled(1.0 / f64::from(count).sqrt()))
        }
        _ => None,
    }
}

/// The verdict when other data, reduced settings or a fit make a comparison meaningless.
fn adjust_verdict(
    verdict: NumberVerdict,
    counterpart: &ReferenceValue,
    conditions: ComparisonConditions,
) -> NumberVerdict {
    match verdict {
        _ if conditions.stand_in => NumberVerdict::StandIn,
        NumberVerdict::Differs if conditions.reduced => NumberVerdict::Inconclusive,
        NumberVerdict::Agrees if counterpart.fitted.is_some() => NumberVerdict::Fitted,
        verdict => verdict,
    }
}

/// The standard error of a mean from the spread over so many values; zero where there is none.
pub fn standard_error(spread: Option<f64>, kind: SpreadKind, count: usize) -> f64 {
    let spread = spread.unwrap_or(0.0);
    match kind {
        SpreadKind::None => 0.0,
        SpreadKind::StandardError => spread,
        SpreadKind::SdFolds | SpreadKind::SdReplicates => spread / (count.max(1) as f64).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_accounting::Certificate;
    use dpgp_spec::{ReadingMethod, ReferenceValueOwner};

    fn row(replicates: &[f64]) -> MetricSummary {
        MetricSummary {
            cell: 0,
            metric: "m".to_owned(),
            value: replicates.iter().sum::<f64>() / replicates.len() as f64,
            spread: Some(3.0),
            spread_kind: SpreadKind::SdFolds,
            repeats: 14,
            replicates: replicates.to_vec(),
            fold_spreads: replicates.iter().map(|value| 0.1 * value).collect(),
            certificate: Certificate::none(),
            jitter: 0.0,
            undefined: None,
        }
    }

    fn printed(value: f64, spread: f64) -> ReferenceValue {
        ReferenceValue {
            owner: ReferenceValueOwner::Paper,
            cell: 0,
            metric: "m".to_owned(),
            value,
            spread: Some(spread),
            spread_kind: SpreadKind::SdFolds,
            count: Some(14),
            runs: 1,
            precision: 0.1,
            tolerance: None,
            effect: None,
            fitted: None,
            source: String::new(),
            read: ReadingMethod::Printed,
        }
    }

    /// The same where a setting was chosen to fit.
    fn fitted(value: f64) -> ReferenceValue {
        ReferenceValue { fitted: Some("rank tolerance".to_owned()), ..printed(value, 1.0) }
    }

    const PLAIN: ComparisonConditions = ComparisonConditions { stand_in: false, reduced: false };

    /// Replicates between 9.9 and 10.1, whose folds differ by much more.
    fn replicates() -> Vec<f64> {
        (0..39).map(|i| 9.9 + 0.2 * f64::from(i) / 38.0).collect()
    }

    /// The spread over folds does not widen what a split may do.
    #[test]
    fn replicates_decide_and_not_folds() {
        let row = row(&replicates());
        for (value, expected) in
            [(10.0, NumberVerdict::Agrees), (10.1, NumberVerdict::Agrees), (10.2, NumberVerdict::Differs)]
        {
            assert_eq!(ReferenceComparison::new(&row, &printed(value, 1.0), PLAIN).verdict, expected, "{value}");
        }
    }

    #[test]
    fn spreads_are_judged_too() {
        let row = row(&replicates());
        for (spread, expected) in
            [(1.0, NumberVerdict::Agrees), (1.4, NumberVerdict::Differs), (0.6, NumberVerdict::Differs)]
        {
            assert_eq!(
                ReferenceComparison::new(&row, &printed(10.0, spread), PLAIN).spread_verdict,
                expected,
                "{spread}"
            );
        }
    }

    /// Replicates 0 to 9 have a standard deviation of sqrt(82.5 / 9) = 3.0277; that of five more lies below it times the root of the
    /// quantile .975 of F(4, 9), which is 4.718, and above it over the root of that of F(9, 4), which is 8.905. A standard error of five is
    /// a root of five less.
    #[test]
    fn spreads_over_replicates_and_standard_errors_have_the_f_distribution() {
        let row = MetricSummary { fold_spreads: Vec::new(), ..row(&(0..10).map(f64::from).collect::<Vec<_>>()) };
        let sd = (82.5f64 / 9.0).sqrt();
        let [low, high] = [sd / 8.905f64.sqrt(), sd * 4.718f64.sqrt()];
        for (kind, unit) in [(SpreadKind::SdReplicates, 1.0), (SpreadKind::StandardError, 5.0f64.sqrt().recip())] {
            let of =
                |spread| ReferenceValue { spread_kind: kind, count: Some(5), precision: 0.0, ..printed(4.5, spread) };
            for (spread, expected) in [
                (0.999 * low, NumberVerdict::Differs),
                (1.001 * low, NumberVerdict::Agrees),
                (0.999 * high, NumberVerdict::Agrees),
                (1.001 * high, NumberVerdict::Differs),
            ] {
                assert_eq!(
                    ReferenceComparison::new(&row, &of(unit * spread), PLAIN).spread_verdict,
                    expected,
                    "{spread}"
                );
            }
        }
    }

    /// Folds differ by .99 to 1.01: the standard error of four has half of that.
    #[test]
    fn a_standard_error_is_that_over_folds_where_there_are_any() {
        let row = row(&replicates());
        for (spread, expected) in
            [(0.5, NumberVerdict::Agrees), (0.6, NumberVerdict::Differs), (1.0, NumberVerdict::Differs)]
        {
            let printed =
                ReferenceValue { spread_kind: SpreadKind::StandardError, count: Some(4), ..printed(10.0, spread) };
            assert_eq!(ReferenceComparison::new(&row, &printed, PLAIN).spread_verdict, expected, "{spread}");
        }
    }

    /// Nothing is said of the spread of a single run, by a single replicate, or of folds that left none.
    #[test]
    fn spreads_without_a_law_are_not_judged() {
        let (many, one) = (row(&replicates()), row(&[10.0]));
        let bare = MetricSummary { fold_spreads: Vec::new(), ..many.clone() };
        for kind in [SpreadKind::SdReplicates, SpreadKind::StandardError] {
            let of = |count| ReferenceValue { spread_kind: kind, count, ..printed(10.0, 1.0) };
            for (row, count) in [(&one, Some(5)), (&many, Some(1)), (&many, None)] {
                assert_eq!(
                    ReferenceComparison::new(row, &of(count), PLAIN).spread_verdict,
                    NumberVerdict::None,
                    "{count:?}"
                );
            }
        }
        assert_eq!(ReferenceComparison::new(&bare, &printed(10.0, 1.0), PLAIN).spread_verdict, NumberVerdict::None);
    }

    #[test]
    fn one_split_tells_nothing() {
        let judged = ReferenceComparison::new(&row(&[10.0]), &printed(10.0, 1.0), PLAIN);
        assert_eq!((judged.verdict, judged.spread_verdict), (NumberVerdict::NotJudged, NumberVerdict::None));
    }

    #[test]
    fn what_excuses_a_comparison() {
        let row = row(&replicates());
        let stand_in = ComparisonConditions { stand_in: true, reduced: false };
        let reduced = ComparisonConditions { stand_in: false, reduced: true };
        assert_eq!(ReferenceComparison::new(&row, &printed(12.0, 1.0), stand_in).verdict, NumberVerdict::StandIn);
        assert_eq!(ReferenceComparison::new(&row, &printed(12.0, 1.0), reduced).verdict, NumberVerdict::Inconclusive);
        assert_eq!(ReferenceComparison::new(&row, &fitted(10.0), PLAIN).verdict, NumberVerdict::Fitted);
        assert_eq!(ReferenceComparison::new(&row, &fitted(12.0), PLAIN).verdict, NumberVerdict::Differs);
        assert_eq!(ReferenceComparison::new(&row, &fitted(10.0), PLAIN).spread_verdict, NumberVerdict::Agrees);
        assert!(ReferenceComparison::new(&row, &fitted(10.0), PLAIN).p_value().is_none());
        assert!(ReferenceComparison::new(&row, &printed(10.0, 1.0), PLAIN).p_value().is_some());
        let read = ReferenceValue { tolerance: Some(2.0), ..printed(12.0, 1.0) };
        assert_eq!(ReferenceComparison::new(&row, &read, PLAIN).verdict, NumberVerdict::Agrees);
    }
}
