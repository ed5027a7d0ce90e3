//! The rows of files, of which neighbours are made.

use dpgp_data::rows::RowFile;
use dpgp_data::{DataError, Table, is_parquet, read_own};

use super::ReplacedCell;
use crate::ReleaseError;

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
                if is_parquet(path) { Table::read_whole_parquet(path, &[]) } else { read_own(path, &[]) };
            let table = table?.with_partitions(file)?;
            if all.names.is_empty() {
                all.names = table.columns();
            }
            all.append(&table)?;
        }
        Ok(all)
    }

    fn append(&mut self, table: &Table) -> Result<(), DataError> {
        let mut rows = vec![Vec::with_capacity(self.names.len()); table.rows()];
        for name in &self.names {
            let cells = table.text(name)?;
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell.unwrap_or_default()));
        }
        self.rows.append(&mut rows);
        Ok(())
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// A cell as a number; none if it is not one.
    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        let place = self.names.iter().position(|name| name == column)?;
        self.rows.get(row)?.get(place)?.parse().ok()
    }

    /// The same rows but for some cells of one.
    #[must_use]
    pub fn with(&self, row: usize, cells: &[ReplacedCell]) -> Self {
        cells
            .iter()
            .fold(self.clone(), |rows, cell| rows.with_text(row, &cell.column, &format!("{:?}", cell.value)))
    }

    /// The same rows but for one cell.
    #[must_use]
    pub fn with_text(mut self, row: usize, column: &str, text: &str) -> Self {
        let place = self.names.iter().position(|name| name == column);
        if let Some(cell) = place.and_then(|place| self.rows.get_mut(row)?.get_mut(place)) {
            text.clone_into(cell);
        }
        self
    }

    /// The same rows without one.
    #[must_use]
    pub fn without(&self, row: usize) -> Self {
        let mut other = self.clone();
        if row < other.rows.len() {
            other.rows.remove(row);
        }
        other
    }

    /// The greatest number of a column; none if a cell is not one.
    pub fn greatest(&self, column: &str) -> Option<f64> {
        let numbers = (0..self.count()).map(|row| self.number(row, column));
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
    use super::*;

    #[test]
    fn cells_are_replaced_by_name() {
        let rows = FileCells {
            names: ["x", "y"].map(str::to_owned).to_vec(),
            rows: vec![vec!["1".into(), "2".into()], vec!["3".into(), "a,b".into()]],
        };
        assert_eq!((rows.number(0, "y"), rows.number(1, "y"), rows.number(2, "x")), (Some(2.0), None, None));
        let other = rows.with(1, &[ReplacedCell { column: "y".to_owned(), value: f64::MAX }]);
        assert_eq!(other.csv(None, 1).unwrap(), "x,y\n1,2\n3,1.7976931348623157e308\n");
        assert_eq!(rows.csv(Some(&["y".to_owned()]), 2).unwrap(), "y\n2\n");
    }
}
