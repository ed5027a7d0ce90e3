//! Which rows a step sees. The accountant must price the scheme that is drawn: the three amplify privacy differently.

use rand::RngExt;
use rand::seq::index;
use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the rows of a step are drawn, at the rate q of all n rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BatchSampling {
    /// `floor(q n)` rows, each from all.
    WithReplacement,
    /// `floor(q n)` different rows.
    WithoutReplacement,
    /// Each row with probability q.
    Poisson,
}

impl BatchSampling {
    /// Draws the rows of one step, which replace what `batch` holds.
    pub fn draw(self, rows: usize, rate: f64, stream: &mut Pcg64, batch: &mut Vec<usize>) {
        batch.clear();
        let size = batch_size(rows, rate);
        match self {
            Self::WithReplacement => batch.extend((0..size).map(|_| stream.random_range(0..rows))),
            Self::WithoutReplacement => batch.extend(index::sample(stream, rows, size)),
            Self::Poisson => poisson(rows, rate, stream, batch),
        }
    }
}

/// Each row with probability q, by the gaps between the rows taken, which are geometric: `floor(ln u / ln(1 - q))`.
fn poisson(rows: usize, rate: f64, stream: &mut Pcg64, batch: &mut Vec<usize>) {
    // A draw a row taken, not a draw a row. With q = 1 the logarithm is -inf, the scale -0 and every gap 0.
    let scale = 1.0 / (-rate).ln_1p();
    let mut row = 0;
    while row < rows {
        // In (0, 1], where the logarithm is finite.
        let u: f64 = 1.0 - stream.random::<f64>();
        let gap = (u.ln() * scale).floor();
        // Compared as a float: a tiny rate makes gaps that no integer holds.
        if gap >= (rows - row) as f64 {
            return;
        }
        row += gap as usize;
        batch.push(row);
        row += 1;
    }
}

/// Rows of a step (the expected number, rounded down, with Poisson sampling); at least one.
///
/// ```
/// use dpgp_gp::advi::batch_size;
/// assert_eq!(batch_size(3341, 0.1), 334);
/// assert_eq!(batch_size(50, 0.001), 1);
/// ```
pub fn batch_size(rows: usize, rate: f64) -> usize {
    ((rate * rows as f64).floor() as usize).clamp(1, rows)
}
