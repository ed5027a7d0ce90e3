//! What a certificate says in words: written beside a release, and read again where it is verified.

use serde_json::{Map, Value};

use super::prediction_rows::COLUMNS;
use dpgp_accounting::PrivacyUnit;
use dpgp_number::text::exact;

/// What the columns hold where inputs are public, and where whole records are private.
const ABOUT: [[&str; 5]; 2] = [
    [
        "the prediction, with noise",
        "standard deviation of the function under the model; public: it depends on inputs and settings alone",
        "standard deviation of the privacy noise on private_mean; public",
        INTERVAL,
        "upper end of that interval",
    ],
    [
        "the prediction from the noisy sums",
        "standard deviation of the function under the model, from the noisy sums",
        "what the privacy noise adds to the standard deviation of the posterior, from the noisy sums",
        INTERVAL,
        "upper end of that interval",
    ],
];

const INTERVAL: &str =
    "lower end of the central 95 % interval of the function: private_mean - 1.96 sqrt(gp_sd^2 + noise_sd^2)";

/// What the columns of a file of predictions are.
pub(super) fn columns_about(hides_records: bool) -> Value {
    let about = ABOUT[usize::from(hides_records)];
    let columns = COLUMNS.iter().zip(about).map(|(name, about)| ((*name).to_owned(), Value::from(about)));
    Value::Object(columns.collect::<Map<String, Value>>())
}

/// What no certificate of predictions covers.
pub(super) const ALWAYS_OPEN: [&str; 3] = [
    "the hyperparameters, the bounds and all other settings of the spec, which are taken as public: chosen by a look at the targets, they leak",
    "the points of the grid, which are taken as public",
    "time, memory and other side channels of the computation",
];

/// What is public where records are private; with rows that are left out for a missing cell.
pub(super) const ROWS_PUBLIC: [&str; 2] = [
    "the number of rows of the file, which is taken as public: a record is replaced by another, which filters may keep or drop",
    "the number of rows of the file, which is taken as public: a record is replaced by another, which filters and missing cells may keep or drop",
];

/// How what is public begins and ends where inputs are.
pub(super) const INPUTS_PUBLIC: &str = "the inputs (";
pub(super) const FILTERS_PUBLIC: &str =
    " and the columns that rows are filtered by, which are taken as public";

/// A change of a target beyond what is protected.
pub(super) fn wider_than(change: f64, width: f64) -> String {
    format!(
        "a change of a target by more than {} (privacy.change), although targets may differ by {}",
        exact(change),
        exact(width)
    )
}

/// What a guarantee about one row does not tell of a person.
pub(super) const SEVERAL_ROWS: &str = "what several rows of one person tell together: one row is protected, and `data.person` of a spec names the column that says \
                                       whose rows they are";

/// What a column of persons cannot tell.
pub(super) fn several_names(column: &str) -> String {
    format!(
        "a person who stands under several names in the column {column:?}: each name is protected as a person of its own"
    )
}

/// What a release that no ledger counts says of others.
pub(super) const NOT_COUNTED: &str = "other releases about the same data: this one was made without a ledger (--no-ledger), so \
    that nothing counts them, and they add up";

/// What the guarantee of released sums does not speak of.
pub(super) fn not_covered_of_sums(unit: &PrivacyUnit, counted: bool) -> Vec<String> {
    let mut list = vec![match unit {
        PrivacyUnit::Person { column, .. } => several_names(column),
        _ => SEVERAL_ROWS.to_owned(),
    }];
    if !counted {
        list.push(NOT_COUNTED.to_owned());
    }
    list
}

/// What no release of few waves can tell of its own intervals.
pub(super) const INTERVALS: &str = "Intervals follow from the kernel and from the waves that were released: whether the function varies faster \
    than those, the release cannot tell; where it does, more places lie outside of their intervals than these say";
