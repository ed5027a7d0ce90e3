//! Least total noise variance, which is what the root mean squared error sees.

use nalgebra::{DMatrix, DVector};

use super::log_det::weighted_rows;
use super::objective::{Evaluation, WeightProblem};
use crate::linalg::{LinalgError, ThinSvd, add_gram, thin_svd};

/// Rows of the Hessian's feature matrix that are in memory at a time.
const FEATURES_AT_ONCE: usize = 512;

/// Minimise `tr M` with `M(v) = (sum v_i b_i b_i')^(1/2)`.
///
/// The Lagrangian `tr M + sum v_i (b_i' M^-1 b_i - 1)` is least where `M^2 = B V B'`; so the dual is
/// `max 2 tr M(v) - sum v`, `phi = 2 tr M(v)`, and by scaling v the dual value is `(tr M)^2 / sum v`. The primal value
/// is `tr M max_i g_i`. With `M = P diag(s) P'` and `a_i = P' b_i`, the Hessian is
/// `sum_kl a_ki a_li a_kj a_lj / (s_k s_l (s_k + s_l))`.
pub(super) struct Trace {
    columns: DMatrix<f64>,
}

impl Trace {
    /// For columns (r x k) of full row rank.
    pub fn new(columns: DMatrix<f64>) -> Self {
        Self { columns }
    }

    /// The singular value decomposition of `V^(1/2) B'` (k x r): M has its values and right vectors.
    fn decompose(&self, weights: &[f64]) -> Result<ThinSvd, LinalgError> {
        thin_svd("V^(1/2) B'", &weighted_rows(&self.columns, weights))
    }
}

impl WeightProblem for Trace {
    fn columns(&self) -> usize {
        self.columns.ncols()
    }

    fn restrict(&self, columns: &[usize]) -> Box<dyn WeightProblem> {
        Box::new(Self::new(self.columns.select_columns(columns)))
    }

    fn evaluate(&self, weights: &[f64]) -> Result<Evaluation, LinalgError> {
        let svd = self.decompose(weights)?;
        let coordinates = svd.v.transpose() * &self.columns;
        let leverage = |a: nalgebra::DVectorView<'_, f64>| {
            a.iter().zip(svd.s.iter()).map(|(a, s)| a * a / s).sum::<f64>()
        };
        let leverages = coordinates.column_iter().map(leverage).collect();
        Ok(Evaluation { leverages, coordinates, spectrum: svd.s.iter().copied().collect() })
    }

    fn hessian(&self, at: &Evaluation) -> DMatrix<f64> {
        let s = &at.spectrum;
        let pairs: Vec<(usize, usize, f64)> = (0..s.len())
            .flat_map(|k| (0..=k).map(move |l| (k, l)))
            .map(|(k, l)| {
                let twice = if k == l { 1.0 } else { 2.0 };
                (k, l, (twice / (s[k] * s[l] * (s[k] + s[l]))).sqrt())
            })
            .collect();
        let a = &at.coordinates;
        let mut hessian = DMatrix::zeros(a.ncols(), a.ncols());
        for chunk in pairs.chunks(FEATURES_AT_ONCE) {
            let features = DMatrix::from_fn(chunk.len(), a.ncols(), |feature, i| {
                let (k, l, scale) = chunk[feature];
                scale * a[(k, i)] * a[(l, i)]
            });
            add_gram(&mut hessian, &features);
        }
        hessian
    }

    fn gap(&self, weights: &[f64], at: &Evaluation) -> f64 {
        let trace: f64 = at.spectrum.iter().sum();
        at.largest() * weights.iter().sum::<f64>() / trace - 1.0
    }

    fn root(&self, weights: &[f64]) -> Result<DMatrix<f64>, LinalgError> {
        let svd = self.decompose(weights)?;
        let scale = DVector::from_iterator(svd.s.len(), svd.s.iter().map(|s| s.sqrt()));
        Ok(DMatrix::from_diagonal(&scale) * svd.v.transpose())
    }
}
