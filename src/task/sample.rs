//! The rows that a task works on.

use nalgebra::DMatrix;

/// Public inputs and private targets.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Inputs (n x d).
    pub inputs: DMatrix<f64>,
    /// Targets (n).
    pub targets: Vec<f64>,
}

impl Sample {
    /// From one list of numbers per input column.
    pub fn new(inputs: &[Vec<f64>], targets: Vec<f64>) -> Self {
        let inputs = DMatrix::from_fn(targets.len(), inputs.len(), |i, j| inputs[j][i]);
        Self { inputs, targets }
    }

    /// The rows at these positions, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let targets = rows.iter().map(|&row| self.targets[row]).collect();
        Self { inputs: self.inputs.select_rows(rows), targets }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.targets.len()
    }
}
