//! Trips of a bike share, read from its two published layouts.

use std::path::Path;

use super::cache::hour_of_week;
use super::error::DataError;
use super::table::Table;
use super::table_error::TableCellError;

/// Trips with these columns, whatever the layout of their file:
///
/// | column | what |
/// |---|---|
/// | `start_station`, `end_station` | station ids |
/// | `start_latitude`, `start_longitude`, `end_latitude`, `end_longitude` | in ° |
/// | `east`, `north` | from the start to the end, in kilometres |
/// | `hour_of_week`, `hour_of_day` | start of the trip, in hours since Monday 0:00 and since midnight |
/// | `duration`, `minutes`, `hours` | seconds, and the same in minutes and hours |
/// | `subscriber` | 1 for subscribers, 0 for others |
/// | `trip` | 1, so that trips can be counted |
#[derive(Debug, Clone)]
pub struct TripTable {
    /// The table.
    pub table: Table,
    /// Trips left out because a station of theirs is not in the list of stations.
    pub dropped: usize,
}

/// The names of the columns with the place of a station in the long layout.
const LONG: [(&str, &str); 6] = [
    ("start station id", "start_station"),
    ("end station id", "end_station"),
    ("start station latitude", "start_latitude"),
    ("start station longitude", "start_longitude"),
    ("end station latitude", "end_latitude"),
    ("end station longitude", "end_longitude"),
];

impl TripTable {
    /// From a table in the long layout (the published one: places with each trip), or from one in the short layout
    /// and the list of its stations, which it is joined with. Trips whose station is not in the list are dropped.
    ///
    /// # Errors
    /// [`DataError::Table`] for a missing column, a time that cannot be read, or a duration that is no number.
    pub fn new(journeys: Table, stations: Option<&Table>) -> Result<Self, DataError> {
        let long = journeys.column_names().iter().any(|column| column == "tripduration");
        let (mut table, dropped) = match stations {
            Some(stations) if !long => join_stations(&journeys, stations)?,
            _ => (rename_columns(journeys, &LONG)?, 0),
        };
        let (time, duration) = if long { ("starttime", "tripduration") } else { ("start_ts", "duration") };
        let hours = table.map_text_cells(time, |cell| {
            let cell = cell.ok_or(TableCellError::Missing)?;
            hour_of_week(cell).ok_or(TableCellError::NotATime)
        })?;
        let seconds = table.numeric_column(duration)?;
        let subscriber = match long {
            true => table.map_text_cells("usertype", |cell| Ok(f64::from(cell == Some("Subscriber"))))?,
            false => table.numeric_column("subscriber")?,
        };
        let [east, north] = trip_displacements_km(&table)?;
        let columns = [
            ("east", east),
            ("north", north),
            ("hour_of_day", hours.iter().map(|hour| hour % 24.0).collect()),
            ("hour_of_week", hours),
            ("minutes", seconds.iter().map(|seconds| seconds / 60.0).collect()),
            ("hours", seconds.iter().map(|seconds| seconds / 3600.0).collect()),
            ("duration", seconds),
            ("subscriber", subscriber),
            ("trip", vec![1.0; table.row_count()]),
        ];
        for (name, numbers) in columns {
            table = table.with_numeric_column(name, &numbers)?;
        }
        Ok(Self { table, dropped })
    }

    /// From a CSV file, or from the one CSV file in a zip archive.
    ///
    /// # Errors
    /// As [`TripTable::new`], and [`DataError::Io`].
    pub fn read(journeys: &Path, stations: Option<&Path>) -> Result<Self, DataError> {
        let format = super::CsvFormat::default();
        let zipped = journeys.extension().is_some_and(|e| e == "zip");
        let journeys = if zipped { Table::read_zipped(journeys, &format) } else { Table::read(journeys, &format) }?;
        let stations = stations.map(|path| Table::read(path, &format)).transpose()?;
        Self::new(journeys, stations.as_ref())
    }
}

/// Kilometres of a degree of latitude on a sphere with the mean radius of the earth.
const DEGREE: f64 = 6371.0 * std::f64::consts::PI / 180.0;

/// The kilometres from start to end of each trip, to the east and to the north, on the plane that touches the sphere halfway.
fn trip_displacements_km(table: &Table) -> Result<[Vec<f64>; 2], DataError> {
    let (from_x, to_x) = (read_degrees_or_nan(table, "start_longitude")?, read_degrees_or_nan(table, "end_longitude")?);
    let (from_y, to_y) = (read_degrees_or_nan(table, "start_latitude")?, read_degrees_or_nan(table, "end_latitude")?);
    let (mut east, mut north) = (Vec::with_capacity(table.row_count()), Vec::with_capacity(table.row_count()));
    for row in 0..table.row_count() {
        let halfway = 0.5 * (from_y[row] + to_y[row]).to_radians();
        east.push(DEGREE * (to_x[row] - from_x[row]) * halfway.cos());
        north.push(DEGREE * (to_y[row] - from_y[row]));
    }
    Ok([east, north])
}

/// Reads a column of coordinates. A cell that is missing or no number becomes NaN, which fails only where it is used.
fn read_degrees_or_nan(table: &Table, column: &str) -> Result<Vec<f64>, DataError> {
    table.map_text_cells(column, |cell| Ok(cell.and_then(|cell| cell.trim().parse().ok()).unwrap_or(f64::NAN)))
}

fn rename_columns(mut table: Table, names: &[(&str, &str)]) -> Result<Table, DataError> {
    for (old, new) in names {
        table = table.rename_column(old, new)?;
    }
    Ok(table)
}

/// Each trip with the places of its stations, and how many trips have none.
fn join_stations(journeys: &Table, stations: &Table) -> Result<(Table, usize), DataError> {
    let starts = [("latitude", "start_latitude"), ("longitude", "start_longitude")];
    let ends = [("latitude", "end_latitude"), ("longitude", "end_longitude")];
    let table = journeys.join_table("start_station", &station_coordinates(stations, starts)?, "station_id")?;
    let table = table.join_table("end_station", &station_coordinates(stations, ends)?, "station_id")?;
    let kept = table.drop_rows_with_missing(&["start_latitude", "end_latitude"])?;
    let dropped = table.row_count() - kept.row_count();
    Ok((kept, dropped))
}

fn station_coordinates(stations: &Table, names: [(&str, &str); 2]) -> Result<Table, DataError> {
    rename_columns(stations.clone(), &names)?.select_columns(&["station_id", names[0].1, names[1].1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn both_layouts_give_the_same_columns() {
        let folder = tempfile::tempdir().unwrap();
        let long = "tripduration,starttime,start station id,start station latitude,start station longitude,\
                    end station id,end station latitude,end station longitude,usertype\n\
                    90,2017-07-17 01:00:00,7,40.5,-73.5,8,40.75,-74,Subscriber\n";
        let short = "start_ts,duration,start_station,end_station,subscriber\n\
                     2017-07-17 01:00:00,90,7,8,1\n2017-07-17 02:00:00,90,7,99,1\n2017-07-18 01:00:00,60,8,7,0\n";
        let stations = "station_id,latitude,longitude,name\n7,40.5,-73.5,A\n8,40.75,-74,\"B, C\"\n";
        let long = TripTable::read(&table(folder.path(), "long.csv", long), None).unwrap();
        let stations = table(folder.path(), "stations.csv", stations);
        let short = TripTable::read(&table(folder.path(), "short.csv", short), Some(&stations)).unwrap();
        assert_eq!((long.dropped, short.dropped, short.table.row_count()), (0, 1, 2));
        assert_eq!(short.table.line_numbers(), [2, 4]);
        let columns =
            ["start_latitude", "end_longitude", "east", "north", "hour_of_week", "hours", "subscriber", "trip"];
        for column in columns {
            let (a, b) = (long.table.numeric_column(column).unwrap(), short.table.numeric_column(column).unwrap());
            assert_eq!(a[0], b[0], "{column}");
        }
        // A quarter of a degree of latitude, and half a degree of longitude at latitude 40.625.
        let [east, north] = ["east", "north"].map(|name| short.table.numeric_column(name).unwrap()[0]);
        assert!((north - 27.799).abs() < 1e-3 && (east + 42.198).abs() < 1e-2, "{east} {north}");
        assert_eq!(short.table.numeric_column("end_latitude").unwrap(), [40.75, 40.5]);
        assert_eq!(short.table.numeric_column("hour_of_week").unwrap(), [1.0, 25.0]);
        assert_eq!(short.table.numeric_column("hour_of_day").unwrap(), [1.0, 1.0]);
        assert_eq!(short.table.numeric_column("minutes").unwrap(), [1.5, 1.0]);
    }

    #[test]
    fn a_time_that_is_none_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let stations = table(folder.path(), "stations.csv", "station_id,latitude,longitude\n7,40.5,-73.5\n");
        let short = "start_ts,duration,start_station,end_station,subscriber\nnoon,90,7,7,1\n";
        let error = TripTable::read(&table(folder.path(), "short.csv", short), Some(&stations)).unwrap_err();
        assert!(error.to_string().contains("line 2, column \"start_ts\""), "{error}");
        assert!(!error.to_string().contains("noon"), "messages end up in logs");
    }
}
