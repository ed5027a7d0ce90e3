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
}
