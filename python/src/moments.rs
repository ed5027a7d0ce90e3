//! Sums over rows, and their release.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dpgp::data::{HmacKey, MissingCellPolicy};
use dpgp::prelude::{AnyPlannedSumsRelease, DataLocations, Project, WorkerPool};
use dpgp::privacy::MomentFeatures;
use dpgp::release::ledger::{BudgetSetting, LedgerOptions};
use dpgp::release::{
    ClassReleaseMethod, ExactSums, HistogramReleaseMethod, MomentsReleaseMethod, PlannedSumsRelease, ReleaseOptions,
    SparseGpReleaseMethod, SumsReleaseMethod, SumsRequest, TableInMemory, charge_draw_and_write,
};
use dpgp::run::StateFolder;
use dpgp::setting::DataSetting;
use dpgp::task::Experiment;
use pyo3::prelude::*;

use crate::errors::{ArgumentNames, Failure};
use crate::paid::{PaidReleases, ReleaseRequest, busy};
use crate::rows::{Columns, Others};
use crate::work::{Gate, beside, jobs};

/// Whether nested cells are the better choice for this public number of rows, rows per person and inputs.
#[pyfunction]
pub fn sums_cells(rows: usize, rows_per_person: usize, inputs: usize) -> bool {
    MomentFeatures::for_rows(rows, rows_per_person, inputs) == MomentFeatures::Cells
}

/// Sums of one of the models that are released.
pub(crate) enum Total {
    Surface(ExactSums<SparseGpReleaseMethod>),
    Moments(ExactSums<MomentsReleaseMethod>),
    Classes(ExactSums<ClassReleaseMethod>),
    Counts(ExactSums<HistogramReleaseMethod>),
}

/// Runs code for the sums of any model.
macro_rules! with_streamed {
    ($experiment:expr, $streamed:ident, $model:ident => $body:expr) => {
        match AnyPlannedSumsRelease::from_experiment($experiment)? {
            AnyPlannedSumsRelease::Surface($streamed) => {
                let $model = Total::Surface;
                $body
            }
            AnyPlannedSumsRelease::Moments($streamed) => {
                let $model = Total::Moments;
                $body
            }
            AnyPlannedSumsRelease::Classes($streamed) => {
                let $model = Total::Classes;
                $body
            }
            AnyPlannedSumsRelease::Counts($streamed) => {
                let $model = Total::Counts;
                $body
            }
        }
    };
}

/// The same for sums.
macro_rules! with_total {
    ($total:expr, $sums:ident => $body:expr) => {
        match $total {
            Total::Surface($sums) => $body,
            Total::Moments($sums) => $body,
            Total::Classes($sums) => $body,
            Total::Counts($sums) => $body,
        }
    };
}

/// Two sums of one model.
macro_rules! with_totals {
    ($one:expr, $other:expr, $sums:ident, $more:ident => $body:expr) => {
        match ($one, $other) {
            (Total::Surface($sums), Total::Surface($more)) => $body,
            (Total::Moments($sums), Total::Moments($more)) => $body,
            (Total::Classes($sums), Total::Classes($more)) => $body,
            (Total::Counts($sums), Total::Counts($more)) => $body,
            _ => return Err(Failure::input("the sums belong to different specs").into()),
        }
    };
}

/// Exact sums over rows, as private as the rows, according to a spec.
#[pyclass(module = "dpgp._core")]
pub struct MomentsCore {
    pub(crate) experiment: Arc<Experiment>,
    name: String,
    pub(crate) arguments: ArgumentNames,
    key: Option<HmacKey>,
    /// Whether the key is that of ledgers. Otherwise it only compares rows in this process.
    pub(crate) of_ledgers: bool,
    pub(crate) total: Option<Arc<Total>>,
    /// How often rows were added.
    pub(crate) changes: u64,
    pub(crate) paid: PaidReleases,
}

#[pymethods]
impl MomentsCore {
    /// `spec` is the text of a spec if `text` is true, or else a name or a path. `arguments` maps keys of the text to
    /// Python arguments. Rows are identified by the key of ledgers if `ledger` is true, or else by `passing`, if given.
    #[new]
    #[pyo3(signature = (spec, text, name, ledger, passing, arguments))]
    fn new(
        spec: &str,
        text: bool,
        name: String,
        ledger: bool,
        passing: Option<Vec<u8>>,
        arguments: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let arguments = ArgumentNames::new(arguments);
        let project = Project::open(&DataLocations::default()).map_err(Failure::from)?;
        let experiment = match text {
            true => project.parse("rows", spec).map_err(|error| Failure::of_text(error, &arguments)),
            false => project.find_one_experiment(spec).map_err(Failure::from),
        };
        let experiment = Arc::new(experiment?);
        AnyPlannedSumsRelease::from_experiment(&experiment).map_err(|error| Failure::from(error).naming(&arguments))?;
        let state = ledger.then(StateFolder::open).transpose().map_err(Failure::from)?;
        let key = state.map(|state| state.key().clone());
        let key = key.or_else(|| passing.as_deref().map(HmacKey::new));
        let (total, changes, paid) = (None, 0, PaidReleases::default());
        Ok(Self { experiment, name, arguments, key, of_ledgers: ledger, total, changes, paid })
    }

    /// The columns of a row, in order.
    fn columns(&self) -> PyResult<Vec<String>> {
        Ok(columns(&self.experiment)?)
    }

    /// The categories of encoded columns.
    fn codes(&self) -> PyResult<BTreeMap<String, Vec<String>>> {
        Ok(self.data()?.encode.clone())
    }

    /// Whether rows with missing cells are dropped.
    fn drops_missing(&self) -> PyResult<bool> {
        Ok(self.data()?.missing == MissingCellPolicy::Drop)
    }

    /// Adds rows: a list of columns in the order of [`MomentsCore::columns`], and the other columns of the table with
    /// their names. Rows that were added before are refused, unless they belong to other people.
    #[pyo3(signature = (columns, others, threads, other_people=false))]
    fn add(
        &mut self,
        py: Python<'_>,
        columns: Vec<Bound<'_, PyAny>>,
        others: Vec<(String, Bound<'_, PyAny>)>,
        threads: Option<usize>,
        other_people: bool,
    ) -> PyResult<()> {
        let columns = Columns::from_objects(&columns)?;
        let others = Others::from_objects(&others, &columns)?;
        let table = PythonTable { columns, others };
        let (experiment, name, key) = (Arc::clone(&self.experiment), self.name.clone(), self.key.clone());
        let arguments = self.arguments.clone();
        if self.data()?.person.is_some() && self.total.is_some() {
            // At most so many rows of each person count, and those are chosen among all rows.
            return Err(Failure::input("with data.person, all rows must be added in one call").into());
        }
        let more = beside(py, move |gate| {
            let done = summed(&experiment, &table, &name, key.as_ref(), threads, gate);
            done.map_err(|failure| failure.naming(&arguments))
        })?;
        if !other_people {
            self.ensure_other_rows(&more)?;
        }
        self.take(more, false)
    }

    /// Adds the sums of other rows, and empties the other sums. Neither changes if the rows are refused.
    fn merge(&mut self, other: &mut Self) -> PyResult<()> {
        let Some(more) = &other.total else { return Ok(()) };
        if self.data()?.person.is_some() && self.total.is_some() {
            return Err(Failure::input("with data.person, all rows must be added in one call").into());
        }
        self.ensure_other_rows(more)?;
        if self.total.as_ref().is_some_and(|total| Arc::strong_count(total) > 1) || Arc::strong_count(more) > 1 {
            return Err(busy().into());
        }
        let Some(more) = other.total.take() else { return Ok(()) };
        let more = Arc::try_unwrap(more).map_err(|_| busy())?;
        other.changes += 1;
        self.take(more, true)
    }

    /// The exact sums, as `dpgp sum --out` writes them.
    fn to_text(&self) -> PyResult<String> {
        let Some(total) = &self.total else { return Err(Failure::input("no rows were added").into()) };
        let text = with_total!(&**total, sums => if self.of_ledgers { sums.to_json() } else { sums.to_json_without_identity() });
        Ok(text.map_err(|error| Failure::other(error.to_string()))?)
    }

    /// Reads sums that [`MomentsCore::to_text`] or the command wrote.
    fn read_text(&mut self, text: &str) -> PyResult<()> {
        self.total = Some(Arc::new(parsed(&self.experiment, Path::new(&self.name), text)?));
        self.changes += 1;
        Ok(())
    }

    /// The number of rows, which is private.
    fn rows(&self) -> u64 {
        self.total.as_deref().map_or(0, |total| with_total!(total, sums => sums.read_row_count()))
    }

    /// Charges the ledger, draws noise and returns the file of the release. The file is kept until
    /// [`MomentsCore::arrived`] is called with it. Until then, the same call returns it again.
    #[pyo3(signature = (epsilon, ledger, ledger_file, budget, other_people, allow_caveats))]
    fn release(
        &self,
        py: Python<'_>,
        epsilon: Option<f64>,
        ledger: bool,
        ledger_file: Option<PathBuf>,
        budget: Option<(f64, f64)>,
        other_people: bool,
        allow_caveats: bool,
    ) -> PyResult<String> {
        let Some(total) = self.total.clone() else {
            return Err(Failure::input("no rows were added").into());
        };
        let changes = self.changes;
        let asked = ReleaseRequest { epsilon, ledger, ledger_file, budget, other_people, allow_caveats, changes };
        if let Some(text) = self.paid.find(&asked) {
            return Ok(text);
        }
        let experiment = Arc::clone(&self.experiment);
        let budget = budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta });
        let state = ledger.then(StateFolder::open).transpose().map_err(Failure::from)?;
        let file = asked.ledger_file.clone();
        let place = state.map(|state| LedgerOptions { state, file, budget, other_people });
        let how = ReleaseTerms { epsilon, place, allow_caveats, of_ledgers: self.of_ledgers };
        let (work, arguments) = (self.paid.begin()?, self.arguments.clone());
        beside(py, move |gate| {
            let done = released(&experiment, &total, &how, gate);
            if let Ok(text) = &done {
                work.keep(asked, text);
            }
            // Whoever gets the text may begin anew.
            drop((work, total));
            done.map_err(|failure| failure.naming(&arguments))
        })
    }

    /// Marks a release as received by the caller.
    fn arrived(&self, text: &str) {
        self.paid.forget(text);
    }

    /// Releases that were charged but did not reach the caller.
    fn unreturned(&self) -> Vec<String> {
        self.paid.all()
    }
}

impl MomentsCore {
    fn data(&self) -> Result<&DataSetting, Failure> {
        let first = self.experiment.cells.first().map(|cell| &*cell.setting().data);
        first.ok_or_else(|| Failure::input("the spec has no cell"))
    }

    fn ensure_other_rows(&self, more: &Total) -> PyResult<()> {
        let Some(total) = &self.total else { return Ok(()) };
        let other = with_totals!(&**total, more, sums, more => sums.ensure_no_repeated_rows(more));
        Ok(other.map_err(Failure::from)?)
    }

    fn take(&mut self, more: Total, other_table: bool) -> PyResult<()> {
        let Some(total) = &mut self.total else {
            self.total = Some(Arc::new(more));
            self.changes += 1;
            return Ok(());
        };
        let total = Arc::get_mut(total).ok_or_else(busy)?;
        let added = with_totals!(total, more, sums, more => {
            if other_table { sums.merge_other_tables(more) } else { sums.add_batch(more) }
        });
        added.map_err(Failure::from)?;
        self.changes += 1;
        Ok(())
    }
}

/// Rows with all their columns.
struct PythonTable {
    columns: Columns,
    others: Others,
}

/// How a release is made.
struct ReleaseTerms {
    epsilon: Option<f64>,
    place: Option<LedgerOptions>,
    allow_caveats: bool,
    of_ledgers: bool,
}

fn columns(experiment: &Experiment) -> Result<Vec<String>, Failure> {
    with_streamed!(experiment, streamed, _model => Ok(streamed.columns_to_read()))
}

fn parsed(experiment: &Experiment, name: &Path, text: &str) -> Result<Total, Failure> {
    with_streamed!(experiment, streamed, model => Ok(model(streamed.parse_exact_sums(name, text)?)))
}

fn summed(
    experiment: &Experiment,
    table: &PythonTable,
    name: &str,
    key: Option<&HmacKey>,
    threads: Option<usize>,
    gate: &Gate,
) -> Result<Total, Failure> {
    let (pool, columns) = (WorkerPool::new(jobs(threads))?, &table.columns);
    with_streamed!(experiment, streamed, model => {
        let asked = streamed.columns_to_read().len();
        if columns.width() != asked {
            return Err(Failure::input(format!("rows have {} columns, but the spec sums {asked}", columns.width())));
        }
        let (mut rows, mut others) = (columns.held(gate), table.others.held());
        let held = TableInMemory { name, rows: &mut rows, others: Some(&mut others) };
        Ok(model(streamed.sum_table(held, &pool, key)?))
    })
}

fn released(experiment: &Experiment, total: &Total, asked: &ReleaseTerms, gate: &Gate) -> Result<String, Failure> {
    match (AnyPlannedSumsRelease::from_experiment(experiment)?, total) {
        (AnyPlannedSumsRelease::Surface(streamed), Total::Surface(sums)) => charged(&streamed, sums, asked, gate),
        (AnyPlannedSumsRelease::Moments(streamed), Total::Moments(sums)) => charged(&streamed, sums, asked, gate),
        (AnyPlannedSumsRelease::Classes(streamed), Total::Classes(sums)) => charged(&streamed, sums, asked, gate),
        (AnyPlannedSumsRelease::Counts(streamed), Total::Counts(sums)) => charged(&streamed, sums, asked, gate),
        _ => Err(Failure::input("the sums belong to another spec")),
    }
}

/// Runs the steps of `dpgp sum --release`. All refusals come before the charge.
fn charged<M: SumsReleaseMethod>(
    streamed: &PlannedSumsRelease<'_, M>,
    total: &ExactSums<M>,
    asked: &ReleaseTerms,
    gate: &Gate,
) -> Result<String, Failure> {
    let privacy = streamed.resolve_privacy_setting(asked.epsilon)?;
    let request = SumsRequest { streamed, total, privacy: &privacy, known: asked.of_ledgers };
    let terms = ReleaseOptions { place: asked.place.as_ref(), allow_exceptions: asked.allow_caveats };
    let ready = || if gate.charge() { Ok(()) } else { Err(Failure::other("interrupted")) };
    charge_draw_and_write(&request, &terms, ready, |charged| Ok(format!("{:#}\n", charged.json())))
}
