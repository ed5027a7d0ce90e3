//! Metrics: what a task measures, under which name.

use super::{Certified, Measured};

/// A metric: its name in tables, specs and printed numbers, and its value, given what a task has computed.
///
/// A task has one list of them, which gives the names that its spec may ask for and the values that its results hold.
pub(super) struct Metric<M> {
    /// Its name: lower case, words joined by `-`.
    pub name: &'static str,
    /// Its value; NaN where it has none.
    pub value: fn(&M) -> f64,
    /// Why it may have none.
    pub undefined: Option<&'static str>,
}

impl<M> Metric<M> {
    /// A metric that always has a value.
    pub const fn new(name: &'static str, value: fn(&M) -> f64) -> Self {
        Self { name, value, undefined: None }
    }

    /// A metric that has none, for a reason, where its value is NaN.
    pub const fn undefined(name: &'static str, value: fn(&M) -> f64, why: &'static str) -> Self {
        Self { name, value, undefined: Some(why) }
    }
}

/// The names of a list.
pub(super) fn names<M>(metrics: &[Metric<M>]) -> Vec<String> {
    metrics.iter().map(|metric| metric.name.to_owned()).collect()
}

impl Certified {
    /// The metrics of a list, of what was computed once; and the largest jitter of a factorisation behind them.
    pub(super) fn scored<M>(self, jitter: f64, metrics: &[Metric<M>], computed: &M) -> Measured {
        self.scored_often(jitter, metrics, std::slice::from_ref(computed))
    }

    /// The same of what was computed several times: for each fold, or each draw of the noise.
    pub(super) fn scored_often<M>(self, jitter: f64, metrics: &[Metric<M>], computed: &[M]) -> Measured {
        let values = metrics.iter().map(|metric| computed.iter().map(metric.value).collect());
        self.named(jitter, metrics, values)
    }

    /// Values for the metrics of a list, in its order.
    pub(super) fn named<M>(
        self,
        jitter: f64,
        metrics: &[Metric<M>],
        values: impl IntoIterator<Item = Vec<f64>>,
    ) -> Measured {
        let measured = self.measured_often(jitter, metrics.iter().map(|metric| metric.name).zip(values));
        metrics.iter().fold(measured, |measured, metric| match metric.undefined {
            Some(why) => measured.undefined_where_nan(metric.name, why),
            None => measured,
        })
    }
}
