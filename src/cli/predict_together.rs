//! `dpgp predict --together`: several answers from the same rows, with one budget and one charge.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::CliError;
use super::options::{OutputFormat, balance_text, ensure_distinct_paths, existing_ledger_place};
use super::output::Spinner;
use super::output::{print, print_json};
use super::predict::{PredictArguments, apply_changes_except_rows, warn_of_clip_inside_bounds};
use super::preview::preview;
use dpgp_data::rows::ensure_readable_addresses;
use dpgp_fs::SigningKey;
use dpgp_number::text::count_with_noun;
use dpgp_release::{
    DrawnRelease, JointGuarantee, JointReleasePlan, PlannedJointRelease, PredictionFiles, PredictionRequest,
    PrivatePredictions, ReleaseError, UnnamedFiles, charge_draw_and_write_together, prediction_paths,
    refuse_private_filter,
};
use dpgp_run::{Project, create_watcher};

/// Releases the answers of several specs, or of several cells of one, in the order of [`super::predict::predict`]: refuse, read,
/// charge, draw, write. All answers are charged before any noise is drawn.
pub(super) fn predict_together(
    arguments: &PredictArguments,
    folder: &Path,
    format: OutputFormat,
) -> Result<(), CliError> {
    // Refuse: wrong specs, different budgets, and output files that exist or cannot be written.
    let project = arguments.places.project()?;
    let joint = split_budget(arguments, &project)?;
    let (watcher, place) = (create_watcher(arguments.quiet), arguments.ledger.open_ledger_place()?);
    let signing = arguments.sign.as_deref().map(SigningKey::from_tested_file).transpose();
    let signing = signing.map_err(ReleaseError::CannotSign)?;
    let paths: Vec<PathBuf> =
        joint.planned_releases().iter().map(|answer| folder.join(format!("{}.csv", answer.name()))).collect();
    ensure_distinct_paths(&[output_paths(&paths), arguments.ledger.ledger_and_lock_files()].concat())?;
    let mut made = AnswersFolderGuard::open(folder)?;
    let files = paths.iter().map(|path| PredictionFiles::open(path, signing.as_ref()));
    let files: Vec<PredictionFiles<'_>> = files.collect::<Result<_, _>>()?;
    // Read: the rows, once for each answer, and the public points.
    let points = arguments.points.public_points();
    let requests = joint.planned_releases().iter().map(|answer| {
        let (experiment, cell) = (answer.experiment(), answer.cell());
        PredictionRequest::read(&project, experiment, cell, points, watcher.download_progress(), place.as_ref())
    });
    let requests: Vec<PredictionRequest<'_>> = requests.collect::<Result<_, _>>()?;
    let waiting = Spinner::start("fitting the models and designing the noise", arguments.quiet);
    let designed = || {
        drop(waiting);
        Ok(())
    };
    let names: Vec<&str> = joint.planned_releases().iter().map(PlannedJointRelease::name).collect();
    // Charge, draw, write.
    charge_draw_and_write_together(&requests, &names, joint.total_budget(), place.as_ref(), designed, |drawn| {
        made.keep();
        // All answers are on the disk before the first has its name.
        let (mut certificates, mut all) = (Vec::new(), UnnamedFiles::default());
        for (files, drawn) in files.into_iter().zip(drawn) {
            let (certificate, filled) = files.write_unnamed(drawn)?;
            certificates.push(certificate);
            all.append(filled);
        }
        all.finish()?;
        match format {
            OutputFormat::Text => print(&summary(&joint, drawn, &paths)),
            OutputFormat::Json => print_json(&json!({
                "epsilon": joint.total_budget().epsilon,
                "delta": joint.total_budget().delta,
                "written": paths,
                "certificates": certificates,
            })),
        }
    })
}

/// Shows how the budget would be split, and the expected error of each answer at its epsilon. Reads public facts only, as
/// `--preview` of one spec does, and spends nothing.
pub(super) fn preview_together(arguments: &PredictArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let joint = split_budget(arguments, &project)?;
    if format == OutputFormat::Json {
        let answers = joint.planned_releases().iter().map(|answer| {
            let epsilon = answer.cell().setting().privacy.epsilon.get();
            json!({ "name": answer.name(), "share": answer.budget_share(), "epsilon": epsilon })
        });
        return print_json(&json!({ "answers": answers.collect::<Vec<_>>() }));
    }
    let (watcher, place) = (create_watcher(arguments.quiet), existing_ledger_place()?);
    let points = arguments.points.public_points();
    for answer in joint.planned_releases() {
        let (experiment, cell) = (answer.experiment(), answer.cell());
        let request =
            PredictionRequest::read(&project, experiment, cell, points, watcher.download_progress(), place.as_ref())?;
        let epsilon = cell.setting().privacy.epsilon;
        let share = 100.0 * answer.budget_share();
        print(&format!("{}: epsilon = {}, {share:.0} % of the budget\n", answer.name(), epsilon.get()))?;
        let one = arguments.preview.at_epsilon(epsilon);
        preview(&request, &experiment.meta.title, &one, arguments.quiet, format)?;
    }
    Ok(())
}

/// Finds the answers and the epsilon of each. Refuses what needs no row.
fn split_budget(arguments: &PredictArguments, project: &Project) -> Result<JointReleasePlan, CliError> {
    let specs = arguments.specs.iter().map(|spec| Ok(project.find_one_experiment(spec)?));
    let specs = specs.collect::<Result<Vec<_>, CliError>>()?;
    // Refuse: changes of the rows.
    specs.iter().try_for_each(|spec| apply_changes_except_rows(project, spec.clone(), &arguments.set).map(drop))?;
    let weights: Vec<(String, f64)> = arguments.share.iter().map(|share| (share.name.clone(), share.weight)).collect();
    let joint = JointReleasePlan::split_budget(project, specs, &arguments.set, &arguments.cell, &weights)?;
    for answer in joint.planned_releases() {
        let setting = answer.cell().setting();
        refuse_private_filter(setting, false)?;
        ensure_readable_addresses(setting.data.source.own_file().map(Path::new))?;
        warn_of_clip_inside_bounds(setting);
    }
    ensure_readable_addresses(arguments.points.at.as_deref())?;
    Ok(joint)
}

/// All files that the answers may need.
fn output_paths(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().flat_map(|path| prediction_paths(path)).collect()
}

/// Describes the release: its answers, the guarantee of all together, what it does not cover, and the balance of the ledger.
fn summary(joint: &JointReleasePlan, drawn: &[DrawnRelease<PrivatePredictions<'_>>], paths: &[PathBuf]) -> String {
    let total = joint.total_budget();
    let mut text = format!("{} released together:\n", count_with_noun(drawn.len(), "answer", "answers"));
    let answers = joint.planned_releases();
    let width = answers.iter().map(|answer| answer.name().chars().count()).max().unwrap_or_default();
    for ((answer, drawn), path) in answers.iter().zip(drawn).zip(paths) {
        let epsilon = drawn.certificate().guarantee.map_or(f64::INFINITY, |guarantee| guarantee.epsilon);
        let (name, points) = (answer.name(), count_with_noun(drawn.point_count(), "point", "points"));
        let (share, path) = (100.0 * answer.budget_share(), path.display());
        text.push_str(&format!(
            "  {name:width$}  epsilon = {epsilon}, {share:.0} % of the budget; {points} in {path}\n"
        ));
    }
    let guarantee = drawn.first().and_then(DrawnRelease::joint_guarantee);
    text.extend(guarantee.and_then(JointGuarantee::risk_in_words).map(|risk| format!("{risk}\n")));
    let neighbours =
        guarantee.map(|guarantee| guarantee.neighbours_in_words().join("; for other answers, ")).unwrap_or_default();
    text.push_str(&format!(
        "joint guarantee of all answers: epsilon = {:?}, delta = {:?}, {neighbours}; noise from the operating system\n",
        total.epsilon, total.delta
    ));
    text.push_str("each answer alone has a stronger guarantee, stated in its .certificate.json\n");
    for (answer, drawn) in answers.iter().zip(drawn) {
        for line in drawn.all_warnings() {
            text.push_str(&format!("warning: {}: {line}\n", answer.name()));
        }
    }
    let mut limits: Vec<String> = Vec::new();
    for line in drawn.iter().flat_map(DrawnRelease::guarantee_limits) {
        if !limits.contains(&line) {
            text.push_str(&format!("not covered: {line}\n"));
            limits.push(line);
        }
    }
    text + &balance_text(drawn.first().and_then(DrawnRelease::receipt), total.delta)
}

/// A folder for the answers, which is removed again if nothing is released.
struct AnswersFolderGuard<'a> {
    /// None if the folder existed, or is to be kept.
    made: Option<&'a Path>,
}

impl<'a> AnswersFolderGuard<'a> {
    /// Makes the folder if it does not exist. Its parent must exist.
    fn open(path: &'a Path) -> Result<Self, CliError> {
        if path.is_dir() {
            return Ok(Self { made: None });
        }
        if path.exists() {
            return Err(CliError::io_error_at(path)(ErrorKind::NotADirectory.into()));
        }
        std::fs::create_dir(path).map_err(CliError::io_error_at(path))?;
        Ok(Self { made: Some(path) })
    }

    fn keep(&mut self) {
        self.made = None;
    }
}

impl Drop for AnswersFolderGuard<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.made {
            // Only an empty folder is removed. One that stays does no harm.
            let _ = std::fs::remove_dir(path);
        }
    }
}

/// The weight of one answer: `NAME=WEIGHT`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnswerWeight {
    name: String,
    weight: f64,
}

impl std::str::FromStr for AnswerWeight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "use NAME=WEIGHT with a positive weight, for example means=3".to_owned();
        let (name, weight) = text.rsplit_once('=').ok_or_else(wrong)?;
        let weight = weight.parse().ok().filter(|weight: &f64| *weight > 0.0 && weight.is_finite());
        Ok(Self { name: name.to_owned(), weight: weight.ok_or_else(wrong)? })
    }
}
