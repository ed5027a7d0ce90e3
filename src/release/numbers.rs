//! The numbers of a release, which are looked at before it is charged.

use serde_json::Value;

use super::PrivatePredictions;
use super::sums_file::SumsFile;

/// Parts of a file that hold settings and what is not said, not numbers that were computed.
const SETTINGS: [&str; 3] = ["model", "histogram", "rows"];

/// What has numbers that are written.
pub(super) trait WrittenNumbers {
    /// Whether all of them are finite.
    fn are_finite(&self) -> bool;
}

impl WrittenNumbers for PrivatePredictions<'_> {
    fn are_finite(&self) -> bool {
        let Self { points, predictions, .. } = self;
        let columns = [&predictions.mean, &predictions.gp_sd, &predictions.noise_sd];
        let mut ends = (0..points.nrows()).map(|row| predictions.interval(row));
        points.iter().all(|x| x.is_finite())
            && columns.into_iter().flatten().all(|x| x.is_finite())
            && ends.all(|(low, high)| low.is_finite() && high.is_finite())
    }
}

impl WrittenNumbers for SumsFile {
    /// JSON has null for a number that is not finite.
    fn are_finite(&self) -> bool {
        let Value::Object(parts) = &self.value else { return false };
        parts.iter().all(|(name, part)| SETTINGS.contains(&name.as_str()) || has_no_null(part))
    }
}

fn has_no_null(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(parts) => parts.iter().all(has_no_null),
        Value::Object(parts) => parts.values().all(has_no_null),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn finite(value: Value) -> bool {
        SumsFile { value }.are_finite()
    }

    fn sums(x: f64) -> Value {
        json!({ "rows": null, "model": { "noise_variance": null }, "sums": [{ "a": [1.0, x] }] })
    }

    #[test]
    fn every_number_counts() {
        assert!(finite(sums(2.0)));
        for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(!finite(sums(x)) && !finite(json!({ "sd": x })));
        }
    }
}
