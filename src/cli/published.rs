//! Options of `dpgp predict --from` for numbers that others published with noise.

use std::path::Path;

use clap::Args;

use super::CliError;
use dpgp_fs::append_suffix;
use dpgp_release::{CERTIFICATE_ENDING, PublishedNoise, PublishedNumbers};

/// What is known of the privacy of all that is computed from them.
pub(super) const PUBLISHERS_GUARANTEE: &str = "the guarantee of the publisher";

/// Options of numbers that others published with noise.
#[derive(Debug, Args)]
pub(super) struct PublishedArguments {
    /// With --from and a CSV or Parquet file of numbers that others published with noise: the columns of the inputs
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', requires_all = ["from", "target", "noise"])]
    inputs: Vec<String>,
    /// With --inputs: the column of the published numbers
    #[arg(long, value_name = "COLUMN", requires_all = ["from", "inputs"])]
    target: Option<String>,
    /// With --inputs: the noise distribution (gaussian=SD, discrete-gaussian=SD, laplace=SCALE or discrete-laplace=SCALE), or a column
    /// with the noise variance or standard deviation of each number (variance=COLUMN or sd=COLUMN)
    #[arg(long, value_name = "DISTRIBUTION", requires_all = ["from", "inputs"])]
    noise: Option<PublishedNoise>,
}

impl PublishedArguments {
    /// Reads the published numbers, if the options name some.
    ///
    /// # Errors
    /// [`CliError::FromPredictions`] for released predictions or their certificate, [`CliError::NumbersWithoutNoise`] for a table without
    /// the options, and the errors of [`PublishedNumbers::read`].
    pub fn read(&self, from: &Path) -> Result<Option<PublishedNumbers>, CliError> {
        // Predictions share their noise, so they must not be smoothed again as independent numbers.
        let is_certificate = from.to_string_lossy().ends_with(CERTIFICATE_ENDING);
        if is_certificate || has_table_extension(from) && append_suffix(from, CERTIFICATE_ENDING).exists() {
            return Err(CliError::FromPredictions(from.to_path_buf()));
        }
        match (&self.target, &self.noise) {
            (Some(target), Some(noise)) => Ok(Some(PublishedNumbers::read(from, &self.inputs, target, noise)?)),
            _ if has_table_extension(from) => Err(CliError::NumbersWithoutNoise(from.to_path_buf())),
            _ => Ok(None),
        }
    }
}

fn has_table_extension(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv") || end.eq_ignore_ascii_case("parquet"))
}
