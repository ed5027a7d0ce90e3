//! The sums that `dpgp stats` makes, by task.

use std::time::Instant;

use serde_json::json;

use super::add_sums::added;
use super::output::write_file;
use super::stats_release::Question;
use super::stats_report::Report;
use super::sum_files::summed;
use super::summand::summand;
use super::{CliError, class_release, histogram_release, surface_release};
use crate::data::Digest;
use crate::setting::PrivacySetting;
use crate::stream::{ClassSummand, Counts, Record, SumRows};
use crate::task::{ClassModel, HistogramModel, SurfaceModel};

/// The sums of a surface.
///
/// # Errors
/// [`CliError`] of the rows, of the sums and of the release.
pub(super) fn surface(question: &Question<'_>, model: &SurfaceModel) -> Result<Report, CliError> {
    let Total { sums, fingerprint, seconds } = total(question, model.summand())?;
    let draw = |privacy: &PrivacySetting| surface_release::draw(question.setting, privacy, model, &sums);
    let balance = question.release(fingerprint, draw)?;
    let (rows, clipped, m) = (sums.rows, sums.clipped, sums.a.len());
    let text = format!("{rows} rows, {clipped} of them clipped; {m} inducing inputs\n");
    let facts = json!({ "rows": rows, "clipped": clipped, "inducing_inputs": m });
    Ok(Report { facts, text, seconds, work: Some((rows, m)), balance })
}

/// The sums of a classification.
///
/// # Errors
/// [`CliError`] of the rows, of the sums and of the release.
pub(super) fn classes(
    question: &Question<'_>,
    model: &ClassModel,
    summand: &ClassSummand,
) -> Result<Report, CliError> {
    let Total { sums, fingerprint, seconds } = total(question, summand)?;
    let draw = |privacy: &PrivacySetting| class_release::draw(question.setting, privacy, model, &sums);
    let balance = question.release(fingerprint, draw)?;
    let of_class: Vec<u64> = sums.0.iter().map(|sums| sums.rows).collect();
    let (rows, m) = (of_class.iter().sum::<u64>(), summand.kernel.size());
    let list = of_class.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let text = format!("{rows} rows, by class {list}; {m} inducing inputs\n");
    let facts = json!({ "rows": rows, "classes": of_class, "inducing_inputs": m });
    Ok(Report { facts, text, seconds, work: Some((rows, m)), balance })
}

/// The counts of a histogram.
///
/// # Errors
/// [`CliError`] of the rows, of the sums and of the release.
pub(super) fn histogram(question: &Question<'_>, model: &HistogramModel) -> Result<Report, CliError> {
    let summand = model.summand(&question.setting.data);
    let Total { sums, fingerprint, seconds } = total(question, &summand)?;
    let draw = |privacy: &PrivacySetting| histogram_release::draw(question.setting, privacy, model, &sums);
    let balance = question.release(fingerprint, draw)?;
    let Counts { rows, outside, bins } = sums;
    let (inside, bins) = (bins.iter().sum::<u64>(), bins.len());
    let text = format!("{rows} rows; {inside} records in {bins} bins, {outside} in none\n");
    let facts = json!({ "rows": rows, "records": inside, "outside": outside, "bins": bins });
    Ok(Report { facts, text, seconds, work: None, balance })
}

/// The sums of all rows.
struct Total<S> {
    sums: S,
    /// Of the names, sizes and rows of the files.
    fingerprint: String,
    seconds: f64,
}

/// Sums the rows or adds sums, and writes them where the arguments say.
fn total<T: SumRows>(question: &Question<'_>, of_rows: &T) -> Result<Total<T::Sum>, CliError> {
    let (arguments, setting) = (question.arguments, question.setting);
    let start = Instant::now();
    let (files, forest) = match arguments.add.as_slice() {
        [] => summed(arguments, setting, of_rows)?,
        parts => added(parts, setting, &of_rows.zero())?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let fingerprint = Digest::of(json!(files).to_string().as_bytes()).to_string();
    let record = Record::new(summand(setting), files, &forest);
    if let Some(path) = &arguments.out {
        let text = serde_json::to_string(&record)
            .map_err(|error| CliError::Io { path: path.clone(), cause: std::io::Error::other(error) })?;
        write_file(path, &text)?;
    }
    Ok(Total { sums: forest.total(of_rows.zero()), fingerprint, seconds })
}
