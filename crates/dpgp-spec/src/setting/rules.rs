//! Errors in a spec, and checks shared by several settings.

use thiserror::Error;

use super::RangeSetting;
use dpgp_data::Separator;
use dpgp_number::{Finite, OutOfRangeError};

/// Error in a spec.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SpecProblem {
    /// Not TOML, or not of the form that the spec language asks for; in the parser's words.
    #[error("{0}")]
    Shape(String),
    /// A number outside its range.
    #[error("{0}")]
    OutOfRange(#[from] OutOfRangeError),
    /// A list that must hold something is empty.
    #[error("must hold at least one value")]
    Empty,
    /// A grid or axis path that no setting has.
    #[error("no setting has this path: {reason}")]
    UnknownPath {
        /// Message of serde.
        reason: String,
    },
    /// A change of something that is neither an axis nor a setting.
    #[error("there is no axis or setting {name:?}{hint}; {axes}, and settings begin with {sections}")]
    UnknownSetting {
        /// The name asked for.
        name: String,
        /// The nearest name, as a question.
        hint: String,
        /// The axes there are.
        axes: String,
        /// The sections of a cell.
        sections: String,
    },
    /// A problem that a spec has only with changes.
    #[error("with {changes}: {problem}{hint}")]
    Changed {
        /// The changes.
        changes: String,
        /// The problem.
        problem: Box<SpecProblem>,
        /// A suggestion.
        hint: &'static str,
    },
    /// A problem of a cell that would be right with another label.
    #[error("{problem}; cells with {labels} have this error, and cells with other labels need not")]
    OnlySomeCells {
        /// The problem.
        problem: Box<SpecProblem>,
        /// The labels, such as `method = sums`.
        labels: String,
    },
    /// A value in a grid that does not fit its path.
    #[error("a value of this axis is not valid for its path: {reason}")]
    BadAxisValue {
        /// Message of serde.
        reason: String,
    },
    /// Two axes with one name.
    #[error("two axes are named {name:?}; rename one or use a longer path")]
    DuplicateAxis {
        /// The name.
        name: String,
    },
    /// The same label twice on one axis, or the same candidate twice.
    #[error("the value {label} is listed twice")]
    DuplicateValue {
        /// The label.
        label: String,
    },
    /// A dataset that the manifest does not hold.
    #[error("there is no dataset {name:?}{hint}; the datasets are: {known}")]
    UnknownDataset {
        /// The name asked for.
        name: String,
        /// The nearest name, as a question.
        hint: String,
        /// The names there are.
        known: String,
    },
    /// A dataset that holds no table of rows.
    #[error("dataset {name:?} holds archives or images, not a table of rows; use a dataset with a CSV file")]
    NotATable {
        /// The dataset.
        name: String,
    },
    /// Nothing to compute from.
    #[error("there are no rows: the source is empty, or the filters remove every row")]
    NoRows,
    /// More folds than rows.
    #[error("{folds} folds need at least {folds} rows, but the data have {rows} after filtering")]
    TooManyFolds {
        /// Folds asked for.
        folds: usize,
        /// Rows there are.
        rows: usize,
    },
    /// More inducing inputs or lengthscales than fit.
    #[error("needs one value for each input ({inputs}), found {found}")]
    WrongDimension {
        /// Number of inputs.
        inputs: usize,
        /// Number of values found.
        found: usize,
    },
    /// A section that every spec or this task needs is not there.
    #[error("a [{section}] section is missing")]
    MissingSection {
        /// The section.
        section: &'static str,
    },
    /// An inline column that is used but not there.
    #[error("there is no inline column {column:?}; the columns are: {known}")]
    UnknownInline {
        /// The column asked for.
        column: String,
        /// The columns there are.
        known: String,
    },
    /// An inline column of another length than the target.
    #[error("must have {wanted} values, as many as the target {target:?}, but has {found}")]
    InlineRows {
        /// The target.
        target: String,
        /// Its number of values.
        wanted: usize,
        /// The number of values found.
        found: usize,
    },
    /// Words about an erratum that is not computed.
    #[error("no cell computes the erratum {name:?}{hint}")]
    ErratumOfNoCell {
        /// The erratum.
        name: String,
        /// The nearest name, as a question.
        hint: String,
    },
    /// An erratum that is computed and not described.
    #[error("no [[erratum]] of this spec describes {name:?}")]
    ErratumWithoutWords {
        /// The erratum.
        name: String,
    },
    /// A statement against a paper that does not quote it.
    #[error("the erratum {name:?} must quote the paper; only a remark can omit the quote")]
    ErratumWithoutQuote {
        /// The erratum.
        name: String,
    },
    /// An objective of predictions where a task releases something else.
    #[error(
        "the objective \"risk\" works only for predictions: use it with task.regression, task.prediction or task.leaderboard"
    )]
    OnlyPredictions,
    /// Denoising of a release that has no best linear prediction.
    #[error("denoise = true needs {needed}")]
    NotDenoised {
        /// The requirement.
        needed: &'static str,
    },
    /// A selector that names an axis that is not there.
    #[error("there is no axis {axis:?}; the axes are: {known}")]
    UnknownAxis {
        /// The axis asked for.
        axis: String,
        /// The axes there are.
        known: String,
    },
    /// A selector that selects no cell.
    #[error("no cell has {axis} = {label}; its values are: {known}")]
    SelectsNothing {
        /// The axis whose value does not occur.
        axis: String,
        /// The value asked for.
        label: String,
        /// The values there are.
        known: String,
    },
    /// A number that stands beside several cells.
    #[error("selects {count} cells instead of one; name more axes")]
    SelectsMany {
        /// Number of cells selected.
        count: usize,
    },
    /// A metric that the task does not measure.
    #[error("the task does not measure {metric:?}; it measures {known}")]
    UnknownMetric {
        /// The metric asked for.
        metric: String,
        /// The metrics there are.
        known: String,
    },
    /// A claim that compares with nothing or with two things.
    #[error(
        "needs exactly one of `other`, `others` (cells), `value` (a number) and `uniform` (a choice uniformly at random)"
    )]
    ClaimNeedsOneSide,
    /// Another metric of no cells.
    #[error("refers to other cells; add `other` or `others`")]
    OtherMetricNeedsCells,
    /// A sentence of a paper without its place, or a place without a sentence.
    #[error("a quotation from a paper needs both `quote` and `place`")]
    QuoteNeedsPlace,
    /// The private target among the public inputs.
    #[error("{column:?} is the private target; it cannot also be an input")]
    TargetIsInput {
        /// The column.
        column: String,
    },
    /// Two axes that set the same path, or one inside another.
    #[error("this axis and {other:?} both set {path}; remove it from one of them")]
    OverlappingAxes {
        /// The other axis.
        other: String,
        /// The path.
        path: String,
    },
    /// An axis with the name of a column that every table has.
    #[error("every table already has a column {name:?}; rename the axis")]
    ReservedAxis {
        /// The name.
        name: String,
    },
    /// Two numbers of one owner for one cell and metric.
    #[error("this cell and metric already have a number of this kind")]
    ValueTwice,
    /// A separator that could stand inside a number or a word.
    #[error("must be {one}, found {found:?}", one = Separator::ONE)]
    BadSeparator {
        /// The character found.
        found: char,
    },
    /// Too many cells.
    #[error("the grid has {cells} cells; at most {most} are allowed")]
    TooManyCells {
        /// Cells of the product.
        cells: usize,
        /// The limit.
        most: usize,
    },
    /// Training rows that leave none to test.
    #[error("{train} training rows leave no test rows: the data have {rows} rows after filtering")]
    NothingToTest {
        /// Rows to train on.
        train: usize,
        /// Rows there are.
        rows: usize,
    },
    /// A key that another setting needs.
    #[error("{by} needs a value for `{key}`")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// The setting that needs it.
        by: &'static str,
    },
    /// A mechanism that this task does not know.
    #[error("this task needs mechanism.{needed}")]
    WrongMechanism {
        /// The mechanism that it knows.
        needed: &'static str,
    },
    /// Noise on sums that other tasks and posteriors do not know.
    #[error("only simulations support this: use task.calibration or task.leaderboard with posterior = \"sites\"")]
    OnlySites,
    /// A change that is smaller than the targets allow.
    #[error("{change:?} is below the width {width:?} of the bounds: raise `change`, or set relation = \"metric\"")]
    NarrowChange {
        /// The change.
        change: f64,
        /// The width of the bounds.
        width: f64,
    },
    /// Matrices that do not fit into the memory of the machine.
    #[error(
        "{rows} rows and {points} points need about {needed:.1} GiB of memory, but {available:.1} GiB are available: {way_out}"
    )]
    Memory {
        /// Rows that a model is fitted to at once.
        rows: usize,
        /// Points that it predicts at.
        points: usize,
        /// Memory of its matrices, in GiB.
        needed: f64,
        /// Available memory, in GiB.
        available: f64,
        /// Advice that needs less memory.
        way_out: &'static str,
    },
    /// A correction that is only proved with a clip.
    #[error("sensitivity = \"corrected\" is proved only for errors clipped at 4 times `change`: set clip = 4.0")]
    CorrectedNeedsClip,
}

impl SpecProblem {
    /// The problem in an error message of serde, if a type of [`dpgp_number`] refused a number.
    pub fn from_serde_message(words: &str) -> Option<Self> {
        let (range, found) = words.strip_prefix("must be ")?.rsplit_once(", found ")?;
        let found = found.parse().ok()?;
        Some(OutOfRangeError { range: range.to_owned().into(), found }.into())
    }

    /// Whether a number is still missing: templates have NaN where the user must fill in a number.
    pub fn is_unfilled_number(&self) -> bool {
        matches!(self, Self::OutOfRange(range) if range.found.is_nan())
    }

    /// Whether a number lies outside its range.
    pub fn is_out_of_range(&self) -> bool {
        matches!(self, Self::OutOfRange(_))
    }
}

/// A value that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingError {
    /// The dotted key path of the value.
    pub path: String,
    /// The problem.
    pub problem: SpecProblem,
}

impl SettingError {
    /// A fault at a path.
    pub fn new(path: &str, problem: SpecProblem) -> Self {
        Self { path: path.to_owned(), problem }
    }
}

/// The outcome of a check.
pub type CheckResult = Result<(), SettingError>;

/// The failure of a check.
///
/// # Errors
/// Always.
pub fn fail(path: &str, problem: SpecProblem) -> CheckResult {
    Err(SettingError::new(path, problem))
}

/// Fails unless the number lies in the range; NaN lies in none.
///
/// # Errors
/// [`SpecProblem::OutOfRange`].
pub fn check_range(path: &str, inside: bool, range: &'static str, found: f64) -> CheckResult {
    if inside { Ok(()) } else { fail(path, OutOfRangeError::new(range, found).into()) }
}

/// Fails unless the number is greater than 0 and finite.
///
/// # Errors
/// [`SpecProblem::OutOfRange`].
pub fn check_positive(path: &str, found: f64) -> CheckResult {
    check_range(path, found > 0.0 && found.is_finite(), "greater than 0 and finite", found)
}

/// The most draws, restarts, centres or steps: far beyond any use, and safely within memory.
const MOST: usize = 1_000_000;

/// Fails unless the number is from 1 to 1,000,000.
///
/// # Errors
/// [`SpecProblem::OutOfRange`].
pub fn check_count(path: &str, found: usize) -> CheckResult {
    check_range(path, (1..=MOST).contains(&found), "from 1 to 1000000", found as f64)
}

/// Fails unless high lies above low, the keys below the path.
///
/// # Errors
/// [`SpecProblem::OutOfRange`].
pub fn check_bounds(path: &str, low: Finite, high: Finite) -> CheckResult {
    check_range(&format!("{path}.high"), high > low, "greater than `low` and finite", high.get())
}

/// Fails unless there are as many values as inputs.
///
/// # Errors
/// [`SpecProblem::WrongDimension`].
pub fn check_dimension(path: &str, inputs: usize, found: usize) -> CheckResult {
    if found == inputs { Ok(()) } else { fail(path, SpecProblem::WrongDimension { inputs, found }) }
}

/// The most points of a grid.
pub const MOST_POINTS: usize = 20_000;

/// Fails unless there is a rising range for each input, and their product is a grid that can be computed.
///
/// # Errors
/// [`SpecProblem::WrongDimension`], [`SpecProblem::OutOfRange`].
pub fn check_grid(path: &str, ranges: &[RangeSetting], inputs: usize) -> CheckResult {
    check_dimension(path, inputs, ranges.len())?;
    for (i, RangeSetting { from, to, points }) in ranges.iter().enumerate() {
        check_range(&format!("{path}.{i}.from"), from.is_finite(), "finite", *from)?;
        check_range(&format!("{path}.{i}.to"), to.is_finite() && to > from, "greater than `from` and finite", *to)?;
        let inside = (2..=MOST_POINTS).contains(points);
        check_range(&format!("{path}.{i}.points"), inside, "from 2 to 20000", *points as f64)?;
    }
    let total = ranges.iter().fold(1, |n: usize, range| n.saturating_mul(range.points));
    check_range(path, total <= MOST_POINTS, "small enough for a grid of at most 20000 points", total as f64)
}

/// Fails unless each point has a value for each input.
///
/// # Errors
/// [`SpecProblem::WrongDimension`].
pub fn check_point_dimensions(path: &str, points: &[Vec<f64>], inputs: usize) -> CheckResult {
    points.iter().enumerate().try_for_each(|(i, point)| check_dimension(&format!("{path}.{i}"), inputs, point.len()))
}

/// Fails unless a row is left beyond the training rows.
///
/// # Errors
/// [`SpecProblem::NothingToTest`].
pub fn check_leaves_test_rows(path: &str, train: usize, rows: usize) -> CheckResult {
    if train < rows { Ok(()) } else { fail(path, SpecProblem::NothingToTest { train, rows }) }
}
