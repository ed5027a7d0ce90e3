//! The attack on samples of a mechanism.

use std::path::PathBuf;

use dpgp::audit::{CsvFirstLineKind, attack, read_sampled_outputs};
use dpgp::privacy::Guarantee;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::work::beside;

/// Tests a claim with two files of outputs, as `dpgp audit --samples` does.
#[pyfunction]
pub fn audit_files<'py>(
    py: Python<'py>,
    one: PathBuf,
    other: PathBuf,
    epsilon: f64,
    delta: f64,
    seed: u32,
    confidence: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let claim = Guarantee { epsilon, delta };
    let (bounds, most, rows) = beside(py, move |_| {
        let read = read_sampled_outputs(&one, &other, Some(CsvFirstLineKind::Names), seed)?;
        let bounds = attack(read.outputs.each_ref(), claim, confidence);
        let most = read.max_provable_epsilon(claim, confidence);
        Ok((bounds, most, read.outputs.each_ref().map(|outputs| outputs.len())))
    })?;
    let found = PyDict::new(py);
    found.set_item("epsilon_at_least", bounds.epsilon)?;
    found.set_item("epsilon_provable", most)?;
    found.set_item("delta_at_least", bounds.delta)?;
    found.set_item("set", bounds.set.clone())?;
    found.set_item("refuted", bounds.refute(claim))?;
    found.set_item("rows", rows)?;
    Ok(found)
}
