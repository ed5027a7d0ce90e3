//! Sums over rows, and their release.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dpgp::data::DataKey;
use dpgp::prelude::{DataPlaces, Pool, Project, StreamedRelease};
use dpgp::release::ledger::{BudgetSetting, LedgerPlace};
use dpgp::release::{
    ClassSumsRelease, CountsRelease, HeldTable, MomentsRelease, Streamed, StreamedTotal, SumsModel, SurfaceSumsRelease,
};
use dpgp::run::StateFolder;
use dpgp::task::Experiment;
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::rows::{Columns, Others};
use crate::work::{Gate, beside, jobs};

/// Sums of one of the models that are released.
enum Total {
    Surface(StreamedTotal<SurfaceSumsRelease>),
    Moments(StreamedTotal<MomentsRelease>),
    Classes(StreamedTotal<ClassSumsRelease>),
    Counts(StreamedTotal<CountsRelease>),
}

/// What is done with sums and what a spec says of them, whatever the model.
macro_rules! with_streamed {
    ($experiment:expr, $streamed:ident, $model:ident => $body:expr) => {
        match StreamedRelease::of($experiment)? {
            StreamedRelease::Surface($streamed) => {
                let $model = Total::Surface;
                $body
            }
            StreamedRelease::Moments($streamed) => {
                let $model = Total::Moments;
                $body
            }
            StreamedRelease::Classes($streamed) => {
                let $model = Total::Classes;
                $body
            }
            StreamedRelease::Counts($streamed) => {
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
            _ => return Err(Failure::input("the sums are of other specs").into()),
        }
    };
}

/// Exact sums over rows, as private as the rows, by the spec of an experiment.
#[pyclass(module = "dpgp._core")]
pub struct MomentsCore {
    experiment: Arc<Experiment>,
    name: String,
    key: Option<DataKey>,
    total: Option<Arc<Total>>,
}

#[pymethods]
impl MomentsCore {
    /// `spec` is the text of a spec if `text`, else a name or a path.
    #[new]
    fn new(spec: &str, text: bool, name: String, ledger: bool) -> PyResult<Self> {
        let project = Project::open(&DataPlaces::default()).map_err(Failure::from)?;
        let experiment = if text { project.parse("rows", spec) } else { project.only(spec) };
        let experiment = Arc::new(experiment.map_err(Failure::from)?);
        StreamedRelease::of(&experiment).map_err(Failure::from)?;
        let key = ledger.then(StateFolder::open).transpose().map_err(Failure::from)?;
        let key = key.map(|state| state.key().clone());
        Ok(Self { experiment, name, key, total: None })
    }

    /// The columns of a row, in their order.
    fn columns(&self) -> PyResult<Vec<String>> {
        Ok(columns(&self.experiment)?)
    }

    /// Adds rows, a list of columns in the order of [`MomentsCore::columns`], with the other columns of their table by their names.
    fn add(
        &mut self,
        py: Python<'_>,
        columns: Vec<Bound<'_, PyAny>>,
        others: Vec<(String, Bound<'_, PyAny>)>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let columns = Columns::of(&columns)?;
        let others = Others::of(&others, &columns)?;
        let table = Table { columns, others };
        let (experiment, name, key) = (Arc::clone(&self.experiment), self.name.clone(), self.key.clone());
        let more = beside(py, move |gate| summed(&experiment, &table, &name, key.as_ref(), threads, gate))?;
        self.take(more, false)
    }

    /// Adds the sums of other rows.
    fn merge(&mut self, other: &mut Self) -> PyResult<()> {
        let Some(more) = other.total.take() else { return Ok(()) };
        let more = Arc::try_unwrap(more).map_err(|_| busy())?;
        self.take(more, true)
    }

    /// The exact sums as `dpgp stats --out` writes them.
    fn to_text(&self) -> PyResult<String> {
        let Some(total) = &self.total else { return Err(Failure::input("no rows were added").into()) };
        let text = with_total!(&**total, sums => sums.text());
        Ok(text.map_err(|error| Failure::other(error.to_string()))?)
    }

    /// Takes sums that [`MomentsCore::to_text`] or the command wrote.
    fn read_text(&mut self, text: &str) -> PyResult<()> {
        self.total = Some(Arc::new(parsed(&self.experiment, Path::new(&self.name), text)?));
        Ok(())
    }

    /// The number of rows; private.
    fn rows(&self) -> u64 {
        self.total.as_deref().map_or(0, |total| with_total!(total, sums => sums.rows()))
    }

    /// Draws noise, charges the ledger and returns the file of the release.
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
        let experiment = Arc::clone(&self.experiment);
        let budget = budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta });
        let state = ledger.then(StateFolder::open).transpose().map_err(Failure::from)?;
        let place = state.map(|state| LedgerPlace { state, file: ledger_file, budget, other_people });
        let ask = Asked { epsilon, place, allow_caveats };
        beside(py, move |gate| released(&experiment, &total, &ask, gate))
    }
}

impl MomentsCore {
    fn take(&mut self, more: Total, other_table: bool) -> PyResult<()> {
        let Some(total) = &mut self.total else {
            self.total = Some(Arc::new(more));
            return Ok(());
        };
        let total = Arc::get_mut(total).ok_or_else(busy)?;
        let added = with_totals!(total, more, sums, more => {
            if other_table { sums.merge(more) } else { sums.extend(more) }
        });
        Ok(added.map_err(Failure::from)?)
    }
}

/// Rows with all their columns.
struct Table {
    columns: Columns,
    others: Others,
}

/// How a release is asked for.
struct Asked {
    epsilon: Option<f64>,
    place: Option<LedgerPlace>,
    allow_caveats: bool,
}

fn busy() -> Failure {
    Failure::other("an interrupted release of these sums is still at work; wait a moment")
}

fn columns(experiment: &Experiment) -> Result<Vec<String>, Failure> {
    with_streamed!(experiment, streamed, _model => Ok(streamed.columns()))
}

fn parsed(experiment: &Experiment, name: &Path, text: &str) -> Result<Total, Failure> {
    with_streamed!(experiment, streamed, model => Ok(model(streamed.parse(name, text)?)))
}

fn summed(
    experiment: &Experiment,
    table: &Table,
    name: &str,
    key: Option<&DataKey>,
    threads: Option<usize>,
    gate: &Gate,
) -> Result<Total, Failure> {
    let (pool, columns) = (Pool::new(jobs(threads))?, &table.columns);
    with_streamed!(experiment, streamed, model => {
        let asked = streamed.columns().len();
        if columns.width() != asked {
            return Err(Failure::input(format!("rows have {} columns, where {asked} are summed", columns.width())));
        }
        let (mut rows, mut others) = (columns.held(gate), table.others.held());
        let held = HeldTable { name, rows: &mut rows, others: Some(&mut others) };
        Ok(model(streamed.sum_table(held, &pool, key)?))
    })
}

fn released(experiment: &Experiment, total: &Total, asked: &Asked, gate: &Gate) -> Result<String, Failure> {
    match (StreamedRelease::of(experiment)?, total) {
        (StreamedRelease::Surface(streamed), Total::Surface(sums)) => charged(&streamed, sums, asked, gate),
        (StreamedRelease::Moments(streamed), Total::Moments(sums)) => charged(&streamed, sums, asked, gate),
        (StreamedRelease::Classes(streamed), Total::Classes(sums)) => charged(&streamed, sums, asked, gate),
        (StreamedRelease::Counts(streamed), Total::Counts(sums)) => charged(&streamed, sums, asked, gate),
        _ => Err(Failure::input("the sums are of another spec")),
    }
}

/// The steps of `dpgp stats --release`: what can be refused is refused before the charge.
fn charged<M: SumsModel>(
    streamed: &Streamed<'_, M>,
    total: &StreamedTotal<M>,
    asked: &Asked,
    gate: &Gate,
) -> Result<String, Failure> {
    let privacy = streamed.privacy(asked.epsilon)?;
    let offer = streamed.offer(total, &privacy, asked.allow_caveats)?;
    if !gate.charge() {
        return Err(Failure::other("interrupted"));
    }
    let place = asked.place.as_ref();
    let paid = offer.charge(place, &streamed.subject(&privacy), total.fingerprint())?;
    Ok(format!("{:#}\n", paid.draw()?.json()))
}
