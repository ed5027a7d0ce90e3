//! What `dpgp run --format json` prints of an experiment whose one axis is epsilon.

use serde_json::Value;

/// The rows of a run.
pub struct Report(pub Value);

impl Report {
    /// The value of a metric at an epsilon.
    pub fn at(&self, epsilon: &str, metric: &str) -> f64 {
        let mut rows = self.0["rows"].as_array().unwrap().iter();
        let row = rows.find(|row| row["metric"] == metric && row["labels"][0] == epsilon);
        row.unwrap()["value"].as_f64().unwrap()
    }

    /// Fails unless every `r2` is `1 - rmse^2 / variance` for the variance of targets that are clipped to bounds.
    pub fn assert_beside_a_constant(&self, targets: impl Iterator<Item = f64>, [low, high]: [f64; 2]) {
        let clipped: Vec<f64> = targets.map(|target| target.clamp(low, high)).collect();
        let rows = clipped.len() as f64;
        let mean = clipped.iter().sum::<f64>() / rows;
        let variance = clipped.iter().map(|target| (target - mean).powi(2)).sum::<f64>() / rows;
        let all = self.0["rows"].as_array().unwrap();
        let epsilons: Vec<&str> =
            all.iter().filter(|row| row["metric"] == "r2").map(|row| row["labels"][0].as_str().unwrap()).collect();
        assert!(epsilons.len() > 1);
        for epsilon in epsilons {
            let expected = 1.0 - self.at(epsilon, "rmse").powi(2) / variance;
            let found = self.at(epsilon, "r2");
            assert!((found - expected).abs() < 1e-4, "{epsilon}: {found}, {expected}");
        }
    }
}
