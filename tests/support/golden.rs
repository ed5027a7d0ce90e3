//! Golden values, computed independently of this project.

use std::fmt::Display;

use nalgebra::DMatrix;
use serde_json::Value;

use super::shipped::shipped;

pub fn golden(name: &str) -> Value {
    serde_json::from_str(&shipped(&format!("tests/golden/{name}.json"))).unwrap()
}

/// The rows of a table of `calibration.json`.
pub fn calibration(table: &str) -> Vec<Value> {
    golden("calibration")[table].as_array().unwrap().clone()
}

pub fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap()
}

/// Fails unless a value is the expected one up to a relative tolerance.
pub fn assert_relative(found: f64, expected: f64, tolerance: f64, what: impl Display) {
    let error = (found / expected - 1.0).abs();
    assert!(error <= tolerance, "{found} != {expected}, relative error {error:e}: {what}");
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// A matrix stored as a list of rows.
pub fn matrix(value: &Value) -> DMatrix<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

/// Merges columns that are equal up to rounding, as equal inputs make them.
pub fn merge(c: &DMatrix<f64>) -> (DMatrix<f64>, Vec<usize>) {
    let scale = c.amax();
    let (mut kept, mut counts): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for j in 0..c.ncols() {
        let same = |&i: &usize| (c.column(i) - c.column(j)).amax() < 1e-11 * scale;
        match kept.iter().position(same) {
            Some(group) => counts[group] += 1,
            None => {
                kept.push(j);
                counts.push(1);
            }
        }
    }
    (c.select_columns(&kept), counts)
}
