//! The distance between the releases of neighbours, in the metric of the noise, and the rows that make
//! neighbours.

use nalgebra::{DMatrix, DVector};

use super::ReplacedCell;
use crate::ReleaseError;
use dpgp_data::rows::RowFile;
use dpgp_data::{DataError, Table, is_parquet, read_user_table};
use dpgp_linalg::{Cholesky, LinalgError};

/// A ridge on the covariance of draws, relative to its mean variance: directions in which a release hardly varies are
/// tried along the axes too.
const RIDGE: f64 = 1e-9;

/// Draws of one dataset, and the differences of its neighbours under the same stream of noise.
///
/// Obligation: for Gaussian noise of covariance M, the distance of two data sets is `max_w |w'd| / sqrt(w'M w)` for
/// their difference d, which is reached at `w = M^-1 d`. Each w is chosen by one half of the draws, and its variance is
/// that of the other half, so that a choice does not favour itself; what is found is a lower bound of the distance, but
/// for the error of that variance. A number of a release is rounded when it is written, after its noise: what that can
/// add to a difference is taken off.
#[derive(Debug, Clone)]
pub struct NeighbourDistanceEstimator {
    /// A draw in each column (t x N).
    draws: DMatrix<f64>,
    /// By the first half.
    factor: Cholesky,
}

impl NeighbourDistanceEstimator {
    /// From draws (t x N) with streams of their own.
    ///
    /// # Errors
    /// [`LinalgError`] if the covariance of the draws cannot be factorised: they are all equal.
    pub fn new(draws: DMatrix<f64>) -> Result<Self, LinalgError> {
        let half = draws.columns(0, draws.ncols() / 2);
        let mean = half.column_mean();
        let centred = DMatrix::from_fn(half.nrows(), half.ncols(), |i, j| half[(i, j)] - mean[i]);
        let mut covariance = &centred * centred.transpose() / half.ncols() as f64;
        let ridge = RIDGE * covariance.trace() / covariance.nrows() as f64;
        for i in 0..covariance.nrows() {
            covariance[(i, i)] += ridge;
        }
        let factor = Cholesky::new("the covariance of draws", &covariance)?;
        Ok(Self { draws, factor })
    }

    /// The distance of neighbours with this difference, each number of which has at most this error of rounding.
    pub fn distance(&self, difference: &DVector<f64>, rounding: &DVector<f64>) -> f64 {
        let optimal = self.factor.solve(&DMatrix::from_column_slice(difference.len(), 1, difference.as_slice()));
        let mut largest = self.distance_along(&optimal.column(0).into_owned(), difference, rounding);
        for place in 0..difference.len() {
            let axis = DVector::from_fn(difference.len(), |i, _| f64::from(u8::from(i == place)));
            largest = largest.max(self.distance_along(&axis, difference, rounding));
        }
        largest
    }

    /// `|w'd|` over the standard deviation of `w'x` for the second half of the draws x.
    fn distance_along(&self, direction: &DVector<f64>, difference: &DVector<f64>, rounding: &DVector<f64>) -> f64 {
        let apart = direction.dot(difference).abs() - direction.abs().dot(rounding);
        // Nothing moves along it, whatever its noise is.
        if apart <= 0.0 {
            return 0.0;
        }
        let first = self.draws.ncols() / 2;
        let values: Vec<f64> =
            (first..self.draws.ncols()).map(|draw| direction.dot(&self.draws.column(draw))).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        apart / variance.sqrt()
    }
}

/// All columns of some files as text, row by row.
#[derive(Debug, Clone)]
pub struct FileCells {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl FileCells {
    /// The rows of files with the same columns, one after the other.
    pub fn read(files: &[RowFile]) -> Result<Self, ReleaseError> {
        let mut all = Self { names: Vec::new(), rows: Vec::new() };
        for file in files {
            let path = &file.path;
            let table =
                if is_parquet(path) { Table::read_whole_parquet(path, &[]) } else { read_user_table(path, &[]) };
            let table = table?.with_partition_columns(file)?;
            if all.names.is_empty() {
                all.names = table.column_names();
            }
            all.append(&table)?;
        }
        Ok(all)
    }

    fn append(&mut self, table: &Table) -> Result<(), DataError> {
        let mut rows = vec![Vec::with_capacity(self.names.len()); table.row_count()];
        for name in &self.names {
            let cells = table.text_column(name)?;
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell.unwrap_or_default()));
        }
        self.rows.append(&mut rows);
        Ok(())
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// A cell as a number; none if it is not one.
    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        let place = self.names.iter().position(|name| name == column)?;
        self.rows.get(row)?.get(place)?.parse().ok()
    }

    /// The same rows but for some cells of one.
    #[must_use]
    pub fn with_replaced_cells(&self, row: usize, cells: &[ReplacedCell]) -> Self {
        cells
            .iter()
            .fold(self.clone(), |rows, cell| rows.with_cell_text(row, &cell.column, &format!("{:?}", cell.value)))
    }

    /// The same rows but for one cell.
    #[must_use]
    pub fn with_cell_text(mut self, row: usize, column: &str, text: &str) -> Self {
        let place = self.names.iter().position(|name| name == column);
        if let Some(cell) = place.and_then(|place| self.rows.get_mut(row)?.get_mut(place)) {
            text.clone_into(cell);
        }
        self
    }

    /// The same rows without one.
    #[must_use]
    pub fn without_row(&self, row: usize) -> Self {
        let mut other = self.clone();
        if row < other.rows.len() {
            other.rows.remove(row);
        }
        other
    }

    /// The greatest number of a column; none if a cell is not one.
    pub fn column_maximum(&self, column: &str) -> Option<f64> {
        let numbers = (0..self.row_count()).map(|row| self.number(row, column));
        numbers.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }

    /// Some columns of some rows, as the text of a file.
    pub fn csv(&self, columns: Option<&[String]>, step: usize) -> Result<String, ReleaseError> {
        let mut places: Vec<usize> = (0..self.names.len()).collect();
        if let Some(columns) = columns {
            places.retain(|place| columns.contains(&self.names[*place]));
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(places.iter().map(|place| &self.names[*place]))?;
        for row in self.rows.iter().step_by(step) {
            writer.write_record(places.iter().map(|place| &row[*place]))?;
        }
        let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error);
        let bytes = bytes.map_err(|error| ReleaseError::Csv(error.into()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    use super::*;

    /// Correlated noise with a covariance of (2, 1; 1, 1), whose inverse is (1, -1; -1, 2).
    #[test]
    fn distances_are_those_of_the_covariance() {
        let mut stream = Pcg64::seed_from_u64(1);
        let mut draws = DMatrix::zeros(2, 20_000);
        for mut draw in draws.column_iter_mut() {
            let x: f64 = StandardNormal.sample(&mut stream);
            let y: f64 = StandardNormal.sample(&mut stream);
            draw.copy_from_slice(&[x + y, x]);
        }
        let paired = NeighbourDistanceEstimator::new(draws).unwrap();
        for (difference, truth) in [([1.0, 0.0], 1.0f64), ([0.0, 1.0], 2f64.sqrt()), ([1.0, 1.0], 1.0)] {
            let exact = DVector::zeros(2);
            let found = paired.distance(&DVector::from_column_slice(&difference), &exact);
            assert!((found / truth - 1.0).abs() < 0.03, "{found} {truth}");
        }
        assert_eq!(paired.distance(&DVector::zeros(2), &DVector::zeros(2)), 0.0);
        // What rounding can do proves nothing.
        let (difference, rounding) = (DVector::from_element(2, 0.5), DVector::from_element(2, 0.5));
        assert_eq!(paired.distance(&difference, &rounding), 0.0);
    }

    /// The first half of the draws is even in both directions, so that w is along the difference (1, 1); in the second
    /// half w'x is 1, -1, 1, -1 with variance 4/3: the distance is 2 / sqrt(4/3). Along the axes it is less, 1 / sqrt 6
    /// and 1 / sqrt(10/3).
    #[test]
    fn directions_are_of_the_first_half_and_variances_of_the_second() {
        let draws = [1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0, 3.0, -2.0, -3.0, 2.0, 0.0, 1.0, 0.0, -1.0];
        let paired = NeighbourDistanceEstimator::new(DMatrix::from_column_slice(2, 8, &draws)).unwrap();
        let one = DVector::from_element(2, 1.0);
        assert!((paired.distance(&one, &DVector::zeros(2)) - 3f64.sqrt()).abs() < 1e-9);
        // Of a difference of 2 along w, rounding by a quarter in each number takes a half.
        assert!((paired.distance(&one, &DVector::from_element(2, 0.25)) - 0.75 * 3f64.sqrt()).abs() < 1e-9);
        // A mean of draws moves no distance: by 5 in one number and 7 in the other.
        let moved = DMatrix::from_fn(2, 8, |i, j| draws[2 * j + i] + [5.0, 7.0][i]);
        let moved = NeighbourDistanceEstimator::new(moved).unwrap().distance(&one, &DVector::zeros(2));
        assert!((moved - 3f64.sqrt()).abs() < 1e-9, "{moved}");
        // (1, 0) alone: w is along the first axis, with variance 18/3.
        let axis = DVector::from_column_slice(&[1.0, 0.0]);
        assert!((paired.distance(&axis, &DVector::zeros(2)) - 6f64.sqrt().recip()).abs() < 1e-9);
    }
}

#[cfg(test)]
mod file_cells_tests {
    use super::*;

    #[test]
    fn cells_are_replaced_by_name() {
        let rows = FileCells {
            names: ["x", "y"].map(str::to_owned).to_vec(),
            rows: vec![vec!["1".into(), "2".into()], vec!["3".into(), "a,b".into()]],
        };
        assert_eq!((rows.number(0, "y"), rows.number(1, "y"), rows.number(2, "x")), (Some(2.0), None, None));
        let other = rows.with_replaced_cells(1, &[ReplacedCell { column: "y".to_owned(), value: f64::MAX }]);
        assert_eq!(other.csv(None, 1).unwrap(), "x,y\n1,2\n3,1.7976931348623157e308\n");
        assert_eq!(rows.csv(Some(&["y".to_owned()]), 2).unwrap(), "y\n2\n");
    }
}
