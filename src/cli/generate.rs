//! `dpgp generate`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::OutputFormat;
use super::output::{GenerateOutput, print, print_json};
use dpgp_data::rows::{RowProgressBar, RowWriter};
use dpgp_data::synthetic::{TRIP_BATCH, TRIP_COLUMNS, generate_trips};
use dpgp_fs::write_atomically_with;

const EXAMPLES: &str = "\
Rows have the columns start_latitude, start_longitude, hour_of_day and minutes, like the trips of beyond/citibike-scale. The same seed
gives the same rows in either format. Memory use does not grow with the number of rows.

Examples:
  dpgp generate --rows 1e6 --out trips.parquet
  dpgp generate --rows 100000000 --out trips.csv --seed 2";

/// Arguments of `dpgp generate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GenerateArguments {
    /// Number of rows; 1e7 is ten million
    #[arg(long, value_name = "N", value_parser = parse_row_count, allow_negative_numbers = true)]
    rows: u64,
    /// The file to write, .csv or .parquet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The seed
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u32,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// The most rows: a 64-bit float counts them exactly.
const MOST: f64 = 1e15;

/// Parses an integer, also written as 1e7.
fn parse_row_count(text: &str) -> Result<u64, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    let fits = (1.0..=MOST).contains(&number) && number.fract() == 0.0;
    if fits { Ok(number as u64) } else { Err(format!("{text} is not an integer from 1 to 1e15")) }
}

/// Writes trips batch by batch. Fails if the file exists.
pub fn generate(arguments: &GenerateArguments, format: OutputFormat) -> Result<(), CliError> {
    let GenerateArguments { rows, out: path, seed, quiet } = arguments;
    let ending = path.extension().unwrap_or_default();
    if !["csv", "parquet"].iter().any(|known| ending.eq_ignore_ascii_case(known)) {
        return Err(CliError::Ending(path.clone()));
    }
    if path.symlink_metadata().is_ok() {
        return Err(CliError::Exists(path.clone()));
    }
    write_atomically_with(path, |file| {
        let mut writer = RowWriter::new(file.try_clone()?, path, &TRIP_COLUMNS)?;
        let mut meter = (!quiet).then(|| RowProgressBar::stderr("writing", Some(*rows)));
        for batch in 0..rows.div_ceil(TRIP_BATCH as u64) {
            let left = rows - batch * TRIP_BATCH as u64;
            let some = usize::try_from(left).unwrap_or(usize::MAX).min(TRIP_BATCH);
            writer.write(&generate_trips(u64::from(*seed), batch, some))?;
            if let Some(meter) = &mut meter {
                meter.advance(some as u64, 0.0);
            }
        }
        writer.finish()
    })
    .map_err(CliError::io_error_at(path))?;
    if format == OutputFormat::Json {
        let columns = TRIP_COLUMNS.to_vec();
        return print_json(&json!(GenerateOutput { written: path.to_path_buf(), rows: *rows, columns }));
    }
    print(&format!("wrote {rows} rows to {}\n", path.display()))
}
