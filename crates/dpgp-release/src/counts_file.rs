//! A file of released counts, and the best estimates of the exact counts. They cost nothing more.

use std::collections::BTreeMap;
use std::path::Path;

use nalgebra::DMatrix;
use serde::Deserialize;
use serde_json::Value;

use super::areas::{AreaOverlap, NamedAreas};
use super::moments_file::{GuaranteeJson, PostprocessedPredictions, data_setting_without_rows};
use super::{GridChoice, PublicPoints, ReleaseError};
use dpgp_data::read_limited_text;
use dpgp_gp::kernel::Bins;
use dpgp_number::Positive;
use dpgp_spec::setting::{BinRangeSetting, check_bin_ranges};
use dpgp_task::{CountEstimates, PredictionPoints, build_count_axes};

/// The part of a counts release from `dpgp sum --release` that the estimates need.
#[derive(Debug)]
pub struct CountsFile {
    histogram: HistogramJson,
    counts: Vec<i64>,
    sd: Positive,
    guarantee: GuaranteeJson,
}

/// The parts of the file that are read.
#[derive(Deserialize)]
struct CountsJson {
    histogram: HistogramJson,
    counts: Vec<i64>,
    sd: Positive,
    guarantee: GuaranteeJson,
}

/// The public settings beside the counts.
#[derive(Debug, Deserialize)]
struct HistogramJson {
    inputs: Vec<String>,
    #[serde(default)]
    encode: BTreeMap<String, Vec<String>>,
    records: Option<String>,
    bins: Vec<BinRangeSetting>,
}

impl CountsFile {
    /// Reads a release of counts. Returns `None` if the file holds another release.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], or [`ReleaseError::NotCounts`] if counts are missing, or their number is not that of the bins.
    pub fn read(path: &Path) -> Result<Option<Self>, ReleaseError> {
        let text = read_limited_text(path).map_err(ReleaseError::io(path))?;
        Self::parse(&text).map_err(|cause| ReleaseError::NotCounts { path: path.to_path_buf(), cause })
    }

    fn parse(text: &str) -> Result<Option<Self>, String> {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
        if value.get("histogram").is_none() {
            return Ok(None);
        }
        let file: CountsJson = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let CountsJson { histogram, counts, sd, guarantee } = file;
        let checked = check_bin_ranges("histogram.bins", &histogram.bins, histogram.inputs.len());
        checked.map_err(|fault| format!("{}: {}", fault.path, fault.problem))?;
        let bins: usize = histogram.bins.iter().map(|cut| cut.bins).product();
        if bins != counts.len() {
            return Err(format!("it has {} counts for {bins} bins", counts.len()));
        }
        Ok(Some(Self { histogram, counts, sd, guarantee }))
    }

    /// The guarantee of the file, which covers all results computed from it.
    pub fn guarantee(&self) -> &str {
        &self.guarantee.text
    }

    /// The one column whose values are counted, with the ends of its bins; none if there are several, or words.
    pub(super) fn single_column_bin_edges(&self) -> Option<(&str, Vec<f64>)> {
        match (&self.histogram.inputs[..], &self.histogram.bins[..]) {
            ([input], [cut]) if self.histogram.encode.is_empty() => Some((input, cut.edges())),
            _ => None,
        }
    }

    /// The counts with their noise, in the order of the bins.
    pub(super) fn noisy_counts(&self) -> &[i64] {
        &self.counts
    }

    /// The standard deviation of the noise.
    pub(super) fn noise_sd(&self) -> f64 {
        self.sd.get()
    }

    /// The `mu` of the counts: they are as private as one draw from `N(0, 1)` or `N(mu, 1)`. Infinite if the file does not say it.
    pub(super) fn gdp_mu(&self) -> f64 {
        self.guarantee.mu.map_or(f64::INFINITY, Positive::get)
    }

    /// Estimates the exact count of each bin, at its centre ([`CountEstimates`]).
    ///
    /// # Errors
    /// [`ReleaseError`] for points other than the bins, a bin that covers several words, or a covariance that cannot be
    /// factorised.
    pub fn predict_bin_counts(self, at: &PublicPoints<'_>) -> Result<PostprocessedPredictions, ReleaseError> {
        if !matches!(at, PublicPoints::Grid(GridChoice::Auto)) {
            return Err(ReleaseError::NotBins);
        }
        let predictions = self.estimate_counts()?.estimate_bins();
        let HistogramJson { inputs, encode, records, bins } = self.histogram;
        let ends: Vec<Vec<f64>> = bins.iter().map(BinRangeSetting::edges).collect();
        let points = PredictionPoints::with_equal_weights(Bins::from_edges(&ends).centres());
        let data = data_setting_without_rows(inputs, records, encode);
        Ok(PostprocessedPredictions { data, points, predictions, warnings: Vec::new() })
    }

    /// Estimates the exact counts of areas, summed over all inputs but the two of the plane ([`CountEstimates::estimate_areas`]).
    ///
    /// # Errors
    /// As [`CountsFile::predict_bin_counts`]; [`ReleaseError::NoPlane`].
    pub fn predict_area_counts(self, areas: &NamedAreas) -> Result<PostprocessedPredictions, ReleaseError> {
        let HistogramJson { inputs, encode, records, bins } = &self.histogram;
        let plane: Vec<usize> = (0..inputs.len()).filter(|input| !encode.contains_key(&inputs[*input])).collect();
        let [first, second, ..] = plane[..] else { return Err(ReleaseError::NoPlane) };
        let [x, y] = if is_latitude_first(&inputs[first], &inputs[second]) { [second, first] } else { [first, second] };
        let [columns, rows] = [x, y].map(|input| bins[input].edges());
        let found = areas.cell_overlaps([&columns, &rows]);
        let mut parts = Vec::with_capacity(found.len());
        for area in &found {
            let part = |bin: usize| {
                let [i, j] = [x, y].map(|axis| {
                    let inner: usize = bins[axis + 1..].iter().map(|cut| cut.bins).product();
                    bin / inner % bins[axis].bins
                });
                area.parts[i * bins[y].bins + j]
            };
            parts.push((0..self.counts.len()).map(part).collect());
        }
        let predictions = self.estimate_counts()?.estimate_areas([x, y], &parts);
        let names: Vec<String> = areas.names().map(str::to_owned).collect();
        let codes = DMatrix::from_fn(names.len(), 1, |area, _| area as f64);
        let words = BTreeMap::from([(areas.called.clone(), names)]);
        let data = data_setting_without_rows(vec![areas.called.clone()], records.clone(), words);
        let warnings = outside_bins_warning(&found);
        Ok(PostprocessedPredictions {
            data,
            points: PredictionPoints::with_equal_weights(codes),
            predictions,
            warnings,
        })
    }

    fn estimate_counts(&self) -> Result<CountEstimates, ReleaseError> {
        let HistogramJson { inputs, encode, bins, .. } = &self.histogram;
        let axes = build_count_axes(inputs, encode, bins).map_err(ReleaseError::NotReleasable)?;
        let noisy = self.counts.iter().map(|count| *count as f64).collect();
        Ok(CountEstimates::new(&axes, noisy, self.sd.get().powi(2))?)
    }
}

/// Whether two names say that the latitude comes before the longitude. A file of areas has them the other way round.
fn is_latitude_first(first: &str, second: &str) -> bool {
    let [first, second] = [first, second].map(str::to_lowercase);
    first.contains("lat") && (second.contains("lon") || second.contains("lng"))
}

/// Names the areas of which more than a hundredth lies beyond all bins.
fn outside_bins_warning(areas: &[AreaOverlap]) -> Vec<String> {
    let mut out: Vec<&AreaOverlap> = areas.iter().filter(|area| area.beyond > 0.01).collect();
    out.sort_by(|one, other| other.beyond.total_cmp(&one.beyond));
    let Some(most) = out.first() else { return Vec::new() };
    vec![format!(
        "{} of {} areas lie partly beyond the bins, where nothing was counted; the largest such part is {:.0} % of {:?}",
        out.len(),
        areas.len(),
        100.0 * most.beyond,
        most.name
    )]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_task::Predictions;

    fn file(bins: &str, counts: &str) -> String {
        format!(
            "{{ \"histogram\": {{ \"inputs\": [\"x\"], \"records\": \"n\", \"filter\": [], \"bins\": [{bins}] }}, \
             \"counts\": {counts}, \"sd\": 2.0, \"guarantee\": {{ \"text\": \"g\" }} }}"
        )
    }

    const BINS: &str = r#"{ "from": 0.0, "to": 8.0, "bins": 4 }"#;

    /// Guards against a file that another program wrote, or somebody changed, and that is read as something else.
    #[test]
    fn what_holds_no_counts_is_refused() {
        assert!(CountsFile::parse("{ \"moments\": 1 }").unwrap().is_none());
        assert!(CountsFile::parse("x,y\n").unwrap().is_none());
        let said = |text: &str| CountsFile::parse(text).unwrap_err();
        assert_eq!(said(&file(BINS, "[1, 2, 3]")), "it has 3 counts for 4 bins");
        assert!(said(&file("", "[]")).contains("histogram.bins"));
        assert!(said(&file(BINS, "[1, 2, 3, 0.5]")).contains("invalid type"));
        assert!(said(&file(BINS, "[1, 2, 3, 4]").replace("2.0", "0.0")).contains("0"));
    }

    /// Guards against areas that are read across the axes: the counts of four quarters of a square, each alone.
    #[test]
    fn areas_hold_the_counts_of_their_cells() {
        let quarters = r#"{ "type": "FeatureCollection", "features": [
            { "type": "Feature", "id": "southwest", "geometry": { "type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]] } },
            { "type": "Feature", "id": "southeast", "geometry": { "type": "Polygon", "coordinates": [[[1, 0], [2, 0], [2, 1], [1, 1]]] } },
            { "type": "Feature", "id": "northern half", "geometry": { "type": "Polygon", "coordinates": [[[0, 1], [2, 1], [2, 3], [0, 3]]] } }] }"#;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("areas.geojson");
        std::fs::write(&path, quarters).unwrap();
        let areas = NamedAreas::read(&path, None).unwrap();
        for (inputs, counts, expected) in [
            (r#"["lon", "lat", "hour"]"#, "[1000, 200, 0, 0, 50, 10, 7000, 0]", [1200.0, 60.0, 7000.0]),
            (r#"["lat", "lon", "hour"]"#, "[1000, 200, 0, 0, 50, 10, 7000, 0]", [1200.0, 0.0, 7060.0]),
        ] {
            let cut = r#"{ "from": 0.0, "to": 2.0, "bins": 2 }"#;
            let text = file(&[cut; 3].join(", "), counts)
                .replace(r#"["x"]"#, inputs)
                .replace("2.0, \"guarantee", "0.01, \"guarantee");
            let found = CountsFile::parse(&text).unwrap().unwrap().predict_area_counts(&areas).unwrap();
            for (mean, expected) in found.predictions.mean.iter().zip(expected) {
                assert!((mean - expected).abs() < 0.1, "{inputs}: {mean} for {expected}");
            }
            assert_eq!(
                found.warnings,
                [
                    "1 of 3 areas lie partly beyond the bins, where nothing was counted; the largest such part is 50 % of \"northern half\""
                ]
            );
        }
        let line = CountsFile::parse(&file(BINS, "[1, 2, 3, 4]")).unwrap().unwrap();
        assert!(matches!(line.predict_area_counts(&areas), Err(ReleaseError::NoPlane)));
    }

    /// The centres of the bins, and no count below zero.
    #[test]
    fn counts_are_estimated_at_the_centres() {
        let read = CountsFile::parse(&file(BINS, "[50, -3, 0, 1]")).unwrap().unwrap();
        let found = read.predict_bin_counts(&PublicPoints::Grid(&GridChoice::Auto)).unwrap();
        assert_eq!(found.points.inputs.as_slice(), [1.0, 3.0, 5.0, 7.0]);
        let Predictions { mean, gp_sd, noise_sd, .. } = &found.predictions;
        assert!((mean[0] - 50.0).abs() < 4.0);
        for bin in 0..4 {
            let (low, high) = found.predictions.central_95_interval(bin);
            assert!(low >= 0.0 && mean[bin] >= low && high >= mean[bin]);
            assert!(gp_sd[bin].hypot(noise_sd[bin]) <= 2.0 * (1.0 + 1e-12), "a noisy count alone errs by 2");
        }
        assert_eq!(found.predictions.central_95_interval(1).0, 0.0);
    }
}
