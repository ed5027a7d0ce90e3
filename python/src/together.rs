//! Releases of several targets of the same rows, in one charge.

use std::path::PathBuf;
use std::sync::Arc;

use dpgp::privacy::PrivacyBudget;
use dpgp::release::ledger::{BudgetSetting, LedgerOptions};
use dpgp::release::{
    AnyPlannedSumsRelease, DrawnRelease, PredictionRequest, RequestedRelease, SumsRequest,
    charge_draw_and_write_together, select_release_cell,
};
use dpgp::run::StateFolder;
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::moments::{MomentsCore, Total};
use crate::paid::{PaidReleases, ReleaseAtWork, ReleaseRequest};
use crate::targets::{TargetsCore, read_request};
use crate::work::{Gate, beside};

/// The epsilon of one release with a `share` (between 0 and 1) of the budget, at the delta of the budget.
#[pyfunction]
pub fn share_epsilon(epsilon: f64, delta: f64, share: f64) -> f64 {
    PrivacyBudget { epsilon, delta }.epsilon_for_mu_squared_share(share)
}

/// The names of the targets, the budget of all of them, and the ledger.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct JointRequest {
    names: Vec<String>,
    total: (f64, f64),
    ledger: bool,
    ledger_file: Option<PathBuf>,
    budget: Option<(f64, f64)>,
    other_people: bool,
}

impl JointRequest {
    fn place(&self) -> Result<Option<LedgerOptions>, Failure> {
        let state = self.ledger.then(StateFolder::open).transpose()?;
        let budget = self.budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta });
        let (file, other_people) = (self.ledger_file.clone(), self.other_people);
        Ok(state.map(|state| LedgerOptions { state, file, budget, other_people }))
    }

    /// How each core keeps its release until it arrives.
    fn of_core(&self, changes: u64) -> ReleaseRequest {
        let (ledger, ledger_file, other_people) = (self.ledger, self.ledger_file.clone(), self.other_people);
        ReleaseRequest {
            epsilon: None,
            ledger,
            ledger_file,
            budget: self.budget,
            other_people,
            allow_caveats: false,
            changes,
        }
    }

    fn publish<'r, R: RequestedRelease>(
        &self,
        requests: &'r [R],
        gate: &Gate,
        text: impl Fn(&DrawnRelease<R::Value<'r>>) -> Result<String, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let (epsilon, delta) = self.total;
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let place = self.place()?;
        let ready = || if gate.charge() { Ok(()) } else { Err(Failure::other("interrupted")) };
        charge_draw_and_write_together(
            requests,
            &names,
            PrivacyBudget { epsilon, delta },
            place.as_ref(),
            ready,
            |drawn| drawn.iter().map(text).collect(),
        )
    }
}

/// Keeps the release of each core until Python has received it.
struct KeptReleases {
    work: Vec<(ReleaseAtWork, ReleaseRequest)>,
}

impl KeptReleases {
    fn begin(paid: Vec<(&PaidReleases, ReleaseRequest)>) -> Result<Self, Failure> {
        let work = paid.into_iter().map(|(paid, asked)| Ok((paid.begin()?, asked)));
        Ok(Self { work: work.collect::<Result<_, Failure>>()? })
    }

    fn keep(self, texts: &[String]) {
        for ((work, asked), text) in self.work.into_iter().zip(texts) {
            work.keep(asked, text);
        }
    }
}

/// Releases sums of the same rows with several targets.
#[pyfunction]
pub fn release_sums_together(
    py: Python<'_>,
    cores: Vec<PyRef<'_, MomentsCore>>,
    asked: JointRequest,
) -> PyResult<Vec<String>> {
    let requests: Vec<ReleaseRequest> = cores.iter().map(|core| asked.of_core(core.changes)).collect();
    let paid = cores.iter().map(|core| &core.paid).zip(&requests);
    if let Some(texts) = paid.clone().map(|(paid, request)| paid.find(request)).collect() {
        return Ok(texts);
    }
    let kept = KeptReleases::begin(paid.map(|(paid, request)| (paid, request.clone())).collect())?;
    let mut held = Vec::new();
    for core in &cores {
        let total = core.total.clone().ok_or_else(|| Failure::input("no rows were added"))?;
        held.push((Arc::clone(&core.experiment), total, core.of_ledgers));
    }
    let arguments = cores.first().map(|core| core.arguments.clone()).unwrap_or_default();
    beside(py, move |gate| {
        let released = || {
            let mut models = Vec::new();
            for (experiment, total, known) in &held {
                match (AnyPlannedSumsRelease::from_experiment(experiment)?, &**total) {
                    (AnyPlannedSumsRelease::Moments(streamed), Total::Moments(sums)) => {
                        let privacy = streamed.resolve_privacy_setting(None)?;
                        models.push((streamed, sums, privacy, *known));
                    }
                    _ => return Err(Failure::input("only moments can be released together")),
                }
            }
            let requests: Vec<_> = models
                .iter()
                .map(|(streamed, total, privacy, known)| SumsRequest { streamed, total, privacy, known: *known })
                .collect();
            asked.publish(&requests, gate, |drawn| Ok(format!("{:#}\n", drawn.json())))
        };
        let done = released();
        if let Ok(texts) = &done {
            kept.keep(texts);
        }
        done.map_err(|failure| failure.naming(&arguments))
    })
}

/// Releases combinations of several targets whose inputs are public.
#[pyfunction]
pub fn release_targets_together(
    py: Python<'_>,
    cores: Vec<PyRef<'_, TargetsCore>>,
    asked: JointRequest,
) -> PyResult<Vec<String>> {
    let requests: Vec<ReleaseRequest> = cores.iter().map(|_| asked.of_core(0)).collect();
    let paid = cores.iter().map(|core| &core.paid).zip(&requests);
    if let Some(texts) = paid.clone().map(|(paid, request)| paid.find(request)).collect() {
        return Ok(texts);
    }
    let kept = KeptReleases::begin(paid.map(|(paid, request)| (paid, request.clone())).collect())?;
    let held: Vec<_> = cores.iter().map(|core| (Arc::clone(&core.experiment), Arc::clone(&core.rows))).collect();
    let arguments = cores.first().map(|core| core.arguments.clone()).unwrap_or_default();
    beside(py, move |gate| {
        let released = || {
            let place = asked.place()?;
            let mut requests: Vec<PredictionRequest<'_>> = Vec::new();
            for (experiment, rows) in &held {
                requests.push(read_request(experiment, select_release_cell(experiment, &[])?, rows, place.as_ref())?);
            }
            asked.publish(&requests, gate, |drawn| Ok(format!("{:#}\n", drawn.release_file_json()?)))
        };
        let done = released();
        if let Ok(texts) = &done {
            kept.keep(texts);
        }
        done.map_err(|failure| failure.naming(&arguments))
    })
}
