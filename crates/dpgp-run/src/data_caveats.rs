//! What the data and the public settings do to a guarantee about one target: reasons why it says less than it seems to.

use dpgp_data::Progress;
use dpgp_number::Positive;
use dpgp_spec::setting::{ChosenBy, DataSetting, NormaliseSetting};
use dpgp_task::{Experiment, Sample, Setting};

use super::Project;
use super::load::Loader;

/// Fewer rows than this show no copy.
const FEW: usize = 10;
/// A correlation above this is a copy.
const COPY: f64 = 1.0 - 1e-9;

/// Reasons why a guarantee about one target says less than it seems to, in words: bounds that are not there, too wide for the
/// change or read off the data, and public columns that copy the target. None where records are private as a whole.
pub fn data_caveats(
    experiment: &Experiment,
    project: &Project,
    setting: &Setting,
    sample: &Sample,
    progress: &dyn Progress,
) -> Vec<String> {
    let Some(change) = setting.privacy.change.map(Positive::get) else { return Vec::new() };
    let mut reasons: Vec<String> =
        bounds_caveat(&setting.normalise, change, &sample.targets).into_iter().collect();
    let columns = sample.inputs.column_iter();
    for (name, column) in setting.data.inputs.iter().zip(columns) {
        let column: Vec<f64> = column.iter().copied().collect();
        if are_copies(&column, &sample.targets) {
            reasons.push(format!("the public input {name:?} is a copy of the target"));
        }
    }
    for column in filter_columns(&setting.data) {
        let (filter, inputs) = (Vec::new(), vec![column.clone()]);
        let all =
            DataSetting { filter, inputs, person: None, rows_per_person: None, ..(*setting.data).clone() };
        let loader = Loader { experiment, project, progress };
        // A column that cannot be read as numbers is no copy of them. Rows that lack either show none.
        let Ok(all) = loader.sample(&all, ChosenBy::Record) else { continue };
        if are_copies(all.inputs.column(0).as_slice(), &all.targets) {
            reasons.push(format!("rows are filtered by {column:?}, a copy of the target"));
        }
    }
    reasons
}

/// What the bounds leave open.
fn bounds_caveat(normalise: &NormaliseSetting, change: f64, targets: &[f64]) -> Option<String> {
    match *normalise {
        NormaliseSetting::None | NormaliseSetting::Constants { .. } => {
            // Without bounds the change is an assumption, which the targets of the data may refute.
            let range = spread(targets);
            (range > change).then(|| {
                format!(
                    "targets are not clipped to public bounds and differ by {range:?}; a change of {change:?} is protected"
                )
            })
        }
        NormaliseSetting::Bounds { low, high, .. } => {
            let width = high.get() - low.get();
            if change < width {
                return Some(format!(
                    "targets may differ by {width:?} within their bounds, and a change of {change:?} is protected"
                ));
            }
            let at_ends = [low.get(), high.get()];
            is_read_off(targets, at_ends).then(|| {
                format!("the bounds {at_ends:?} are the least and the greatest target of the data, each of one row")
            })
        }
        // The certificate says already that private statistics were used.
        NormaliseSetting::Private { .. } | NormaliseSetting::Standardised { .. } => None,
    }
}

/// The greatest less the least.
fn spread(targets: &[f64]) -> f64 {
    let least = targets.iter().copied().fold(f64::INFINITY, f64::min);
    targets.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
}

/// Whether both ends are extremes of the targets that one row alone has: values of two people.
fn is_read_off(targets: &[f64], [low, high]: [f64; 2]) -> bool {
    let extremes = targets.iter().all(|y| (low..=high).contains(y));
    let times = [low, high].map(|end| targets.iter().filter(|y| **y == end).count());
    extremes && times == [1, 1]
}

/// The columns that rows are filtered by, but for the target, of which the certificate speaks.
fn filter_columns(data: &DataSetting) -> Vec<String> {
    data.filter.iter().map(|filter| filter.column.clone()).filter(|column| *column != data.target).collect()
}

/// Whether one list is the other up to a shift and a factor.
fn are_copies(one: &[f64], other: &[f64]) -> bool {
    let n = one.len() as f64;
    let (mean_one, mean_other) = (one.iter().sum::<f64>() / n, other.iter().sum::<f64>() / n);
    let (mut squares_one, mut squares_other, mut products) = (0.0, 0.0, 0.0);
    for (x, y) in one.iter().zip(other) {
        let (x, y) = (x - mean_one, y - mean_other);
        (squares_one, squares_other, products) =
            (squares_one + x * x, squares_other + y * y, products + x * y);
    }
    // A few points lie on a line by chance, or because an example is made of them.
    one.len() >= FEW && squares_one > 0.0 && products.abs() > COPY * (squares_one * squares_other).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_found_in_any_units() {
        let y: Vec<f64> = (0..12).map(|i| f64::from(i * i % 7)).collect();
        let shifted: Vec<f64> = y.iter().map(|y| 32.0 - 1.8 * y).collect();
        assert!(are_copies(&y, &y) && are_copies(&shifted, &y));
        let mut other = y.clone();
        other[3] += 0.1;
        assert!(!are_copies(&other, &y) && !are_copies(&[3.0; 12], &y) && !are_copies(&y[..5], &y[..5]));
    }

    #[test]
    fn bounds_that_two_rows_give_away_are_found() {
        assert!(is_read_off(&[3.0, 9.5, 4.0], [3.0, 9.5]));
        for (targets, bounds) in
            [([3.0, 9.5, 9.5], [3.0, 9.5]), ([3.0, 9.5, 4.0], [3.0, 10.0]), ([3.0, 9.5, 11.0], [3.0, 9.5])]
        {
            assert!(!is_read_off(&targets, bounds));
        }
    }
}
