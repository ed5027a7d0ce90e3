//! Releases that hide targets, of inputs that are public.

use std::path::PathBuf;
use std::sync::Arc;

use dpgp::prelude::{DataLocations, Project};
use dpgp::release::ledger::{BudgetSetting, LedgerOptions};
use dpgp::release::{PredictionRequest, ReleaseError, ReleaseOptions, charge_draw_and_write, select_release_cell};
use dpgp::run::{RunError, StateFolder};
use dpgp::task::{Cell, Experiment, ReleasedTargetCombinations};
use pyo3::prelude::*;

use crate::errors::{ArgumentNames, Failure};
use crate::paid::{PaidReleases, ReleaseRequest};
use crate::surface::{PredictedBytes, predict_blocks};
use crate::work::{Gate, beside};

/// Points that are predicted together.
const BLOCK: usize = 2_048;

/// The rows and the spec of one release.
#[pyclass(module = "dpgp._core")]
pub struct TargetsCore {
    pub(crate) experiment: Arc<Experiment>,
    /// The rows as the text of a CSV file.
    pub(crate) rows: Arc<String>,
    pub(crate) arguments: ArgumentNames,
    pub(crate) paid: PaidReleases,
}

#[pymethods]
impl TargetsCore {
    /// `arguments` maps keys of the spec to Python arguments.
    #[new]
    fn new(spec: &str, rows: String, arguments: Vec<(String, String)>) -> PyResult<Self> {
        let arguments = ArgumentNames::new(arguments);
        let project = Project::open(&DataLocations::default()).map_err(Failure::from)?;
        let experiment = project.parse("rows", spec).map_err(|error| Failure::of_text(error, &arguments))?;
        Ok(Self { experiment: Arc::new(experiment), rows: Arc::new(rows), arguments, paid: PaidReleases::default() })
    }

    /// Whether both have the same rows and the same spec.
    fn is_same(&self, other: &Self) -> bool {
        self.rows == other.rows && self.experiment.source.text() == other.experiment.source.text()
    }

    /// Charges the ledger, draws noise and returns the release, which is kept until [`TargetsCore::arrived`] is called with it.
    #[pyo3(signature = (ledger, ledger_file, budget, other_people, allow_caveats))]
    fn release(
        &self,
        py: Python<'_>,
        ledger: bool,
        ledger_file: Option<PathBuf>,
        budget: Option<(f64, f64)>,
        other_people: bool,
        allow_caveats: bool,
    ) -> PyResult<String> {
        let (epsilon, changes) = (None, 0);
        let asked = ReleaseRequest { epsilon, ledger, ledger_file, budget, other_people, allow_caveats, changes };
        if let Some(text) = self.paid.find(&asked) {
            return Ok(text);
        }
        let budget = budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta });
        let state = ledger.then(StateFolder::open).transpose().map_err(Failure::from)?;
        let file = asked.ledger_file.clone();
        let place = state.map(|state| LedgerOptions { state, file, budget, other_people });
        let (experiment, rows) = (Arc::clone(&self.experiment), Arc::clone(&self.rows));
        let (work, arguments) = (self.paid.begin()?, self.arguments.clone());
        beside(py, move |gate| {
            let done = released(&experiment, &rows, place.as_ref(), allow_caveats, gate);
            if let Ok(text) = &done {
                work.keep(asked, text);
            }
            // Whoever gets the text may begin anew.
            drop(work);
            done.map_err(|failure| failure.naming(&arguments))
        })
    }

    /// Releases that were charged but did not reach the caller.
    fn unreturned(&self) -> Vec<String> {
        self.paid.all()
    }

    /// Marks a release as received by the caller.
    fn arrived(&self, text: &str) {
        self.paid.forget(text);
    }
}

/// Runs the steps of `dpgp predict`. All refusals come before the charge.
fn released(
    experiment: &Experiment,
    rows: &str,
    place: Option<&LedgerOptions>,
    allow_exceptions: bool,
    gate: &Gate,
) -> Result<String, Failure> {
    let request = read_request(experiment, select_release_cell(experiment, &[])?, rows, place)?;
    let ready = || if gate.charge() { Ok(()) } else { Err(Failure::other("interrupted")) };
    charge_draw_and_write(&request, &ReleaseOptions { place, allow_exceptions }, ready, |charged| {
        Ok(format!("{:#}\n", charged.release_file_json()?))
    })
}

/// Reads the rows of a release.
pub fn read_request<'a>(
    experiment: &'a Experiment,
    cell: &'a Cell,
    rows: &str,
    place: Option<&LedgerOptions>,
) -> Result<PredictionRequest<'a>, Failure> {
    PredictionRequest::from_csv_text(experiment, cell, rows, None, place).map_err(|error| match error {
        // The rows are those that the caller holds, and nothing is charged.
        ReleaseError::Run(RunError::Data(cause)) => Failure::input(cause.to_string()),
        error => Failure::from(error),
    })
}

/// Predictions from such a release.
#[pyclass(module = "dpgp._core", frozen)]
pub struct TargetsSurface {
    combinations: Arc<ReleasedTargetCombinations>,
}

#[pymethods]
impl TargetsSurface {
    /// From the JSON of the combinations of a release.
    #[new]
    fn new(combinations: &str) -> PyResult<Self> {
        let read = serde_json::from_str(combinations);
        let combinations = read.map_err(|error| Failure::input(format!("this is not a release: {error}")))?;
        Ok(Self { combinations: Arc::new(combinations) })
    }

    /// Predictions at points, a list of columns.
    fn predict<'py>(&self, py: Python<'py>, columns: Vec<Bound<'py, PyAny>>) -> PyResult<PredictedBytes<'py>> {
        let combinations = Arc::clone(&self.combinations);
        predict_blocks(py, &columns, BLOCK, move |points| {
            combinations.predict(points).map_err(|error| Failure::other(error.to_string()))
        })
    }
}
