//! `dpgp tradeoff`: expected errors of settings.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, existing_ledger_place, experiment_completer};
use super::output::Spinner;
use super::output::{print, print_json};
use super::preview::{PREVIEW_HEADINGS, expected_errors_legend, finite_epsilon, no_benefit_warning, preview_rows};
use super::release_types::{SettingTradeoff, TradeoffOutput};
use dpgp_mechanisms::{MechanismSetting, PrivacySetting};
use dpgp_number::Epsilon;
use dpgp_release::{GridChoice, PointsFile, PredictionRequest, PublicPoints, ReleaseError, refuse_private_filter};
use dpgp_report::{plain_table, wrap_prose};
use dpgp_run::create_watcher;
use dpgp_spec::SpecChange;
use dpgp_task::{Cell, CellSetting, Experiment, ReleasePreview};

const EXAMPLES: &str = "\
Estimates the error of `dpgp predict` at each epsilon, for each combination of values on the axes of the spec and of --set. It
uses only inputs, the number of rows and the settings. It reads no target, releases nothing and charges nothing.

Each estimate assumes that the prior of its own setting is right, so do not just choose the setting with the smallest estimate: a
lengthscale that is too long promises more accuracy than the data can give. Choose settings from public knowledge, and use the
estimates to see the cost of each.

Examples:
  dpgp tradeoff my.toml                                   at the points that the spec names
  dpgp tradeoff my.toml --epsilon 0.1..10                 0.1, 0.2, 0.5, 1, 2, 5 and 10
  dpgp tradeoff my.toml --epsilon 1 --set model.kernel.eq.lengthscale=12,25,50
  dpgp tradeoff my.toml --grid 'age=0..80:41' --set normalise.bounds.high=200,250";

/// Arguments of `dpgp tradeoff`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TradeoffArguments {
    /// The path of a spec (or the name of an experiment) with task.regression, task.prediction or task.surface
    #[arg(value_name = "SPEC", add = experiment_completer())]
    spec: String,
    /// Epsilons, separated by commas, or FROM..TO for 1, 2 and 5 times the powers of ten in this range
    #[arg(long, value_name = "LIST", default_value = "0.1..10")]
    epsilon: TradeoffEpsilons,
    /// Change a setting by its path, or an axis by its name; several values define an axis
    #[arg(long, value_name = "PATH=VALUE,...")]
    set: Vec<SpecChange>,
    /// A CSV or Parquet file with the public inputs to predict at, one column for each input of the spec
    #[arg(long, value_name = "GRID", conflicts_with = "grid")]
    at: Option<PathBuf>,
    /// Instead of a file: `auto` for the points that the spec names (its map, else the box of its inputs), or, for each input,
    /// INPUT=FROM..TO:POINTS or INPUT=VALUE, separated by commas
    #[arg(long, value_name = "POINTS", default_value = "auto")]
    grid: GridChoice,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Epsilons to price, all finite.
#[derive(Debug, Clone, PartialEq)]
struct TradeoffEpsilons(Vec<Epsilon>);

/// The steps of a range within a power of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];
/// The powers of ten in a range.
const POWERS: std::ops::RangeInclusive<i32> = -6..=6;
/// The relative tolerance at the ends of a range.
const ROUNDING: f64 = 1e-9;

impl FromStr for TradeoffEpsilons {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((from, to)) = text.split_once("..") else {
            return text.split(',').map(finite_epsilon).collect::<Result<_, _>>().map(Self);
        };
        let (from, to) = (finite_epsilon(from)?.get(), finite_epsilon(to)?.get());
        let between = POWERS.flat_map(|power| STEPS.map(|step| step * 10f64.powi(power)));
        let between = between.filter(|at| *at >= from * (1.0 - ROUNDING) && *at <= to * (1.0 + ROUNDING));
        let all: Vec<Epsilon> = between.filter_map(|at| Epsilon::new(at).ok()).collect();
        if all.is_empty() {
            Err("this range contains no 1, 2 or 5 times a power of ten; list epsilons, separated by commas".to_owned())
        } else {
            Ok(Self(all))
        }
    }
}

/// A setting, and its expected errors.
struct CellTradeoff<'e> {
    cell: &'e Cell,
    preview: ReleasePreview,
}

impl CellTradeoff<'_> {
    /// Whether the spec states the number of rows, so that other settings of the data leave it as it is.
    fn has_fixed_row_count(&self) -> bool {
        matches!(&self.cell.setting().privacy.mechanism, MechanismSetting::Moments(moments) if moments.rows.is_some())
    }
}

/// Prints the expected error at each epsilon, for each setting.
pub fn tradeoff(arguments: &TradeoffArguments, format: OutputFormat) -> Result<(), CliError> {
    if arguments.set.iter().any(|change| change.changes_setting("privacy.epsilon")) {
        return Err(CliError::EpsilonOfTradeoff);
    }
    let project = arguments.places.project()?;
    let experiment = &project.change_experiment(project.find_one_experiment(&arguments.spec)?, &arguments.set)?;
    let points = match &arguments.at {
        Some(path) => PublicPoints::File(PointsFile { path, weights: None }),
        None => PublicPoints::Grid(&arguments.grid),
    };
    let watcher = create_watcher(arguments.quiet);
    let waiting = Spinner::start("computing the expected error at each epsilon", arguments.quiet);
    let (mut priced, place) = (Vec::new(), existing_ledger_place()?);
    for cell in distinct_private_cells(experiment)? {
        refuse_private_filter(cell.setting(), false)?;
        // A price may use public facts only. The known ledgers show which inputs earlier releases protect, and such inputs are not
        // public. A price writes nothing, not even to the state folder.
        let downloads = watcher.download_progress();
        let request = PredictionRequest::read(&project, experiment, cell, points, downloads, place.as_ref())?;
        priced.push(CellTradeoff { cell, preview: request.preview_prediction_errors(&arguments.epsilon.0)? });
    }
    drop(waiting);
    let axes = differing_axes(experiment, &priced);
    if format == OutputFormat::Json {
        let settings = priced.into_iter().map(|one| setting_tradeoff(experiment, &axes, one)).collect();
        return print_json(&json!(TradeoffOutput { settings }));
    }
    let limit_changed = arguments.set.iter().any(|change| change.changes_setting("data.rows_per_person"));
    let note = if limit_changed && priced.iter().any(CellTradeoff::has_fixed_row_count) { FIXED_ROWS_NOTE } else { "" };
    print(&format!("{}{}", text(experiment, &axes, &priced), wrap_prose(note)))
}

const FIXED_ROWS_NOTE: &str = "note: the number of rows used is taken from privacy.mechanism.moments.rows, whatever rows_per_person is; \
    change that number too, for example to the number of persons times rows_per_person\n";

/// Finds the private cells that differ in more than epsilon; the first cell stands for each setting.
fn distinct_private_cells(experiment: &Experiment) -> Result<Vec<&Cell>, CliError> {
    let mut found: Vec<(&Cell, CellSetting)> = Vec::new();
    for cell in experiment.cells.iter().filter(|cell| cell.setting().privacy.epsilon.get().is_finite()) {
        let mut setting = cell.setting().clone();
        let privacy = PrivacySetting { epsilon: Epsilon::NONE, ..setting.privacy.as_ref().clone() };
        setting.sections.privacy = privacy.into();
        if !found.iter().any(|(_, other)| *other == setting) {
            found.push((cell, setting));
        }
    }
    match found.is_empty() {
        true => Err(ReleaseError::NotReleasable("its epsilon is infinite, so nothing would be private").into()),
        false => Ok(found.into_iter().map(|(cell, _)| cell).collect()),
    }
}

/// Finds the indices of the axes in which priced settings differ.
fn differing_axes(experiment: &Experiment, priced: &[CellTradeoff<'_>]) -> Vec<usize> {
    let labels: Vec<_> = priced.iter().map(|one| one.cell.labels()).collect();
    (0..experiment.axes.len()).filter(|axis| labels.windows(2).any(|pair| pair[0][*axis] != pair[1][*axis])).collect()
}

fn setting_tradeoff(
    experiment: &Experiment,
    axes: &[usize],
    CellTradeoff { cell, preview }: CellTradeoff<'_>,
) -> SettingTradeoff {
    let labels = axes.iter().map(|axis| (experiment.axes[*axis].name.clone(), cell.labels()[*axis].clone()));
    SettingTradeoff { labels: labels.collect(), preview }
}

fn text(experiment: &Experiment, axes: &[usize], priced: &[CellTradeoff<'_>]) -> String {
    let mut headings: Vec<&str> = axes.iter().map(|axis| experiment.axes[*axis].name.as_str()).collect();
    headings.extend(PREVIEW_HEADINGS);
    let (mut rows, mut warnings) = (Vec::new(), String::new());
    for CellTradeoff { cell, preview } in priced {
        let labels: Vec<String> = axes.iter().map(|axis| cell.labels()[*axis].clone()).collect();
        rows.extend(preview_rows(preview).into_iter().map(|row| [labels.clone(), row].concat()));
        let setting: Vec<String> = axes
            .iter()
            .zip(&labels)
            .map(|(axis, label)| format!("{} = {label}", experiment.axes[*axis].name))
            .collect();
        warnings.push_str(&no_benefit_warning(preview, &setting.join(", ")));
    }
    if priced.windows(2).all(|pair| pair[0].preview.expected == pair[1].preview.expected) && priced.len() > 1 {
        warnings.push_str(
            "note: all settings have the same expected error, because the error does not depend on \
             the keys that differ\n",
        );
    }
    let previewed: Vec<_> = priced.iter().map(|one| one.preview.over).collect();
    let below = wrap_prose(&format!("{}{warnings}", expected_errors_legend(&previewed)));
    format!("{}{below}", plain_table(&headings, rows.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<f64>, String> {
        Ok(text.parse::<TradeoffEpsilons>()?.0.iter().map(|epsilon| epsilon.get()).collect())
    }

    #[test]
    fn epsilons_are_listed_or_between_ends() {
        for (text, expected) in [
            ("0.3,7", &[0.3, 7.0][..]),
            ("0.1..10", &[0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]),
            ("0.3..3", &[0.5, 1.0, 2.0]),
        ] {
            let found = parsed(text).unwrap();
            assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
            assert!(found.iter().zip(expected).all(|(f, e)| (f / e - 1.0).abs() < 1e-12), "{text}: {found:?}");
        }
        assert!(parsed("3..4").unwrap_err().contains("power of ten"));
        assert!(parsed("1..inf").unwrap_err().contains("protects nothing"));
        assert!(parsed("0").is_err() && parsed("a..b").is_err());
    }
}
