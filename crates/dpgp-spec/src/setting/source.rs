//! Sources of rows: files, datasets, and generated data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{CheckResult, check_range};
use dpgp_data::CsvLayout;
use dpgp_number::{Count, Fraction, NonNegative, Positive};

/// The source of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceSetting {
    /// A dataset in the manifest `data/datasets.toml`, by name.
    Dataset(String),
    /// Your own CSV files, with a path relative to the spec.
    Csv {
        /// Path of the file or of a folder of part files, or a pattern with `*`, `?`, `[a-z]` or `**`. Folders named `name=value`
        /// in the path of a part file become columns.
        path: String,
        /// The separator, one character.
        #[serde(default = "comma", skip_serializing_if = "is_comma")]
        separator: char,
        /// The names of the columns, in order, for files without a header. Omit this key for files with a header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        columns: Option<Vec<String>>,
    },
    /// Your own Parquet files.
    Parquet {
        /// Path of the file or of a folder of part files, or a pattern, relative to the spec.
        path: String,
    },
    /// Columns in the spec itself.
    Inline(BTreeMap<String, Vec<f64>>),
    /// Generated data, new in each replicate.
    Synthetic(SyntheticSetting),
    /// Greyscale images of a dataset, with their labels as targets. The single name in `inputs` stands for all pixels.
    Images(ImagesSetting),
    /// Trips of a bike-sharing scheme, with columns for the locations of the two stations, the time of the week and the
    /// duration.
    Trips(TripsSetting),
}

/// Trips of a bike-sharing scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TripsSetting {
    /// The name of the dataset in the manifest.
    pub dataset: String,
    /// The path of the dataset's file of trips, as listed in the manifest: CSV, or a zip archive with one CSV file. Without
    /// this path, all files except the list of stations are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journeys: Option<String>,
    /// The path of the dataset's list of stations, which gives the locations for trips that lack them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stations: Option<String>,
}

/// Images of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImagesSetting {
    /// The name of the dataset in the manifest.
    pub dataset: String,
    /// The path of the dataset's file of images, as listed in the manifest.
    pub images: String,
    /// The path of the dataset's file of labels, as listed in the manifest.
    pub labels: String,
    /// The number of pixels along each side after scaling down (bilinear, antialiased).
    pub side: Count,
}

impl ImagesSetting {
    /// The pixels of a scaled image.
    pub fn pixels(&self) -> usize {
        self.side.get().saturating_mul(self.side.get())
    }
}

impl SourceSetting {
    /// The dataset of the manifest that the rows come from; none for other sources.
    pub fn dataset(&self) -> Option<&str> {
        match self {
            Self::Dataset(name)
            | Self::Images(ImagesSetting { dataset: name, .. })
            | Self::Trips(TripsSetting { dataset: name, .. }) => Some(name),
            Self::Csv { .. } | Self::Parquet { .. } | Self::Inline(_) | Self::Synthetic(_) => None,
        }
    }

    /// The path of the user's own file or files, as written in the spec.
    pub fn own_file(&self) -> Option<&str> {
        match self {
            Self::Csv { path, .. } | Self::Parquet { path } => Some(path),
            _ => None,
        }
    }

    /// The layout of the user's own text files; the default layout for any other source.
    pub fn text_layout(&self) -> CsvLayout {
        match self {
            Self::Csv { separator, columns, .. } => CsvLayout {
                // The checks of a spec let no other through.
                separator: u8::try_from(*separator).unwrap_or(b','),
                columns: columns.clone(),
            },
            _ => CsvLayout::default(),
        }
    }
}

fn comma() -> char {
    ','
}

fn is_comma(separator: &char) -> bool {
    *separator == ','
}

/// Generated data, new in each replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SyntheticSetting {
    /// Points of two classes (0 and 1) in diagonal stripes, with label noise, on a square with sides of length 10. They are
    /// denser at the bottom. A test grid with its true classes follows.
    Stripes {
        /// The number of training points.
        points: Count,
        /// The probability that the class of a training point is flipped.
        flips: Fraction,
        /// The number of test points along each side.
        grid: Count<1000, 0>,
    },
    /// A damped oscillation with noise over [-4, 4]. A test grid with noise follows, then the same grid without noise.
    Sinc {
        /// The number of training points.
        points: Count,
        /// Standard deviation of the noise.
        noise: NonNegative,
        /// The number of test points.
        grid: Count<100_000, 0>,
    },
    /// A draw from a Gaussian process with noise, over [-4, 4] along each input. Test points with noise follow, then the same
    /// points without noise.
    GaussianProcess {
        /// The number of training points.
        points: Count<10_000_000>,
        /// Standard deviation of the noise.
        noise: NonNegative,
        /// The lengthscale of the exponentiated quadratic kernel of variance 1.
        lengthscale: Positive,
        /// The number of test points.
        test: Count<100_000, 0>,
        /// The number of inputs.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        inputs: Count<2>,
    },
    /// Two interlocking half circles, of classes 0 and 1.
    Moons {
        /// The number of points.
        points: Count,
        /// Standard deviation of the noise in each coordinate.
        noise: NonNegative,
    },
    /// Intertwined spiral arms, each a class of its own.
    Spirals {
        /// The number of points.
        points: Count,
        /// The number of arms.
        arms: Count<1000>,
        /// Standard deviation of the noise in each coordinate.
        noise: NonNegative,
    },
}

fn one() -> Count<2> {
    Count::literal::<1>()
}

fn is_one(inputs: &Count<2>) -> bool {
    inputs.get() == 1
}

impl SyntheticSetting {
    /// The number of inputs of the data.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Sinc { .. } => 1,
            Self::GaussianProcess { inputs, .. } => inputs.get(),
            Self::Stripes { .. } | Self::Moons { .. } | Self::Spirals { .. } => 2,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        let points = match self {
            Self::Stripes { points, .. }
            | Self::Sinc { points, .. }
            | Self::Moons { points, .. }
            | Self::Spirals { points, .. } => points.get(),
            Self::GaussianProcess { points, .. } => points.get(),
        };
        points + self.test_rows()
    }

    /// The number of rows after the training points: a test grid with its true classes, or test points twice, with noise and without.
    pub(super) fn test_rows(&self) -> usize {
        match self {
            Self::Stripes { grid, .. } => grid.get() * grid.get(),
            Self::Sinc { grid: test, .. } | Self::GaussianProcess { test, .. } => 2 * test.get(),
            Self::Moons { .. } | Self::Spirals { .. } => 0,
        }
    }

    /// Fails for a grid of one point, which has no ends.
    pub(super) fn check(&self) -> CheckResult {
        match self {
            Self::Sinc { grid, .. } => {
                let path = "data.source.synthetic.sinc.grid";
                check_range(path, grid.get() != 1, "0, or from 2 to 100000", grid.get() as f64)
            }
            _ => Ok(()),
        }
    }
}
