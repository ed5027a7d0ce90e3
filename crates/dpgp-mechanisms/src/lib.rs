//! Mechanisms beside cloaking: private sums, moments, histograms, functions and selections.

mod coinpress;
mod ellipsoid;
mod function;
mod histogram;
mod midpoints;
mod moments;
mod newton;
mod private_selection;
mod selection;
mod sufficient;

pub use coinpress::{CoinPressStep, Within, coinpress_mean, coinpress_shares, tail_bound};
pub use ellipsoid::{Ellipsoid, NoiseAxes, SumMaps};
pub use function::{FunctionNoise, FunctionSensitivity};
pub use histogram::{Statistic, count_sensitivity};
pub use midpoints::MidpointBounds;
pub use moments::{
    Frequencies, LeastRisk, MomentsDesign, MomentsNoise, PairTable, PhaseTable, SitePrior, SquareRule,
    WeightSearch, WholeMoments,
};
pub use newton::PrivateStep;
pub use private_selection::PrivateSelection;
pub use selection::{FoldColumns, SensitivityRule, selection_probabilities, sse_sensitivity};
pub use sufficient::{
    HeteroscedasticRule, RecordBounds, SumsNoise, SumsRule, class_sums_sensitivity, free_split,
};
