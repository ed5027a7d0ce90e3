//! The subject of a release for the entry of a ledger, and the choice of the cell of a spec.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use super::ReleaseError;
use super::ledger::{LedgerEntry, format_utc};
use dpgp_accounting::{Certificate, CertifiedMechanism, Neighbours};
use dpgp_data::{Digest, RowDigestSum};
use dpgp_mechanisms::PrivacySetting;
use dpgp_spec::ExperimentAxis;
use dpgp_spec::setting::PersonRowChoiceBasis;
use dpgp_task::{Cell, CellSetting, Experiment};

/// The spec of a release and the requested guarantee.
#[derive(Clone, Copy)]
pub struct ReleaseSpec<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The setting of the cell.
    pub setting: &'a CellSetting,
    /// Epsilon, delta and calibration of the release.
    pub privacy: &'a PrivacySetting,
}

impl ReleaseSpec<'_> {
    /// Makes the entry of a ledger for a release with this certificate.
    ///
    /// # Errors
    /// [`ReleaseError::NotReleasable`] without a guarantee.
    pub(super) fn ledger_entry(&self, certificate: &Certificate, mu: f64) -> Result<LedgerEntry, ReleaseError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let source = &self.experiment.source;
        // A release without a guarantee must never be charged as if it had one.
        let Some(neighbours) = certificate.neighbours else {
            return Err(ReleaseError::NotReleasable("the targets are not protected"));
        };
        let Some(delta_exact) = certificate.delta_exact else {
            return Err(ReleaseError::NotReleasable("the stated sensitivity is not an upper bound"));
        };
        Ok(LedgerEntry {
            time: format_utc(now),
            spec: self.spec_file_and_changes(),
            spec_sha256: Digest::of_bytes(source.text().as_bytes()).to_string(),
            target: self.setting.data.target_column().to_owned(),
            public: self.public_columns(),
            epsilon: self.privacy.epsilon.get(),
            delta: self.privacy.delta.get(),
            delta_exact,
            mu,
            neighbours,
            small_changes: match neighbours {
                Neighbours::OneTargetChanges(change) => self.setting.normalise.target_width_if_above(change).is_some(),
                Neighbours::OneRecord(_) => false,
            },
            unit: certificate.unit.clone(),
            counted: self.histogram_record_column(certificate),
            caveats: certificate.caveats.iter().map(ToString::to_string).collect(),
            // The ledger sets the place and the rows.
            number: 0,
            id: String::new(),
            columns: BTreeMap::new(),
            data: RowDigestSum::default(),
            link: String::new(),
        })
    }

    /// The column whose numbers are the records of a histogram. None if a record is a row, or if whole rows are protected.
    fn histogram_record_column(&self, certificate: &Certificate) -> Option<String> {
        let counts = matches!(certificate.mechanism, CertifiedMechanism::Histogram(_)) && certificate.unit.is_record();
        self.setting.data.target.clone().filter(|_| counts)
    }

    /// The file of the spec, and the settings that were changed, which its digest does not cover.
    fn spec_file_and_changes(&self) -> String {
        let file = self.experiment.source.file().display().to_string();
        match &self.experiment.changes[..] {
            [] => file,
            changes => format!("{file} with {}", changes.join(", ")),
        }
    }

    /// The columns that the release treats as public: none if whole records are private.
    pub(super) fn public_columns(&self) -> Vec<String> {
        let data = &self.setting.data;
        match self.privacy.mechanism.person_row_choice_basis() {
            PersonRowChoiceBasis::Inputs => {
                let filtered = data.filter.iter().map(|filter| &filter.column);
                // Which rows are those of one person is public where inputs are.
                data.inputs.iter().chain(filtered).chain(&data.person).cloned().collect()
            }
            PersonRowChoiceBasis::Record => Vec::new(),
        }
    }
}

/// The path of the budget.
pub(super) const EPSILON: &str = "privacy.epsilon";

/// The cell that the choices `AXIS=VALUE` select. If they select several, the only one with privacy, because the others
/// serve for comparison.
///
/// # Errors
/// [`ReleaseError::NoCell`] or [`ReleaseError::SeveralCells`] with the axes of the spec.
pub fn select_release_cell<'e>(experiment: &'e Experiment, chosen: &[String]) -> Result<&'e Cell, ReleaseError> {
    match select_release_cells(experiment, chosen)?[..] {
        [cell] => Ok(cell),
        ref cells => Err(ReleaseError::SeveralCells { cells: cells.len(), axes: describe_axes(experiment) }),
    }
}

/// As [`select_release_cell`], but all selected cells with privacy, or the only cell.
///
/// # Errors
/// [`ReleaseError::NoCell`] with the axes of the spec.
pub(super) fn select_release_cells<'e>(
    experiment: &'e Experiment,
    chosen: &[String],
) -> Result<Vec<&'e Cell>, ReleaseError> {
    let mut cells = select_cells(experiment, chosen)?;
    if cells.len() > 1 {
        cells.retain(|cell| cell.setting().privacy.epsilon.get().is_finite());
    }
    let released: Vec<f64> = cells.iter().map(|cell| cell.setting().privacy.epsilon.get()).collect();
    refuse_epsilon_of_unchosen_axis(experiment, chosen, &released)?;
    Ok(cells)
}

/// Returns the cells with all of these labels, each written as AXIS=LABEL.
///
/// # Errors
/// [`ReleaseError::NoCell`] with the axes of the spec.
pub fn select_cells<'e>(experiment: &'e Experiment, chosen: &[String]) -> Result<Vec<&'e Cell>, ReleaseError> {
    let mut cells: Vec<&Cell> = experiment.cells.iter().collect();
    for choice in chosen {
        let (axis, label) = choice.split_once('=').unwrap_or((choice, ""));
        let place = experiment.axes.iter().position(|a| a.name == axis);
        cells.retain(|cell| place.is_some_and(|place| cell.labels()[place] == label));
        if cells.is_empty() {
            return Err(ReleaseError::NoCell { choice: choice.clone(), axes: describe_axes(experiment) });
        }
    }
    Ok(cells)
}

/// Refuses a release whose epsilon is not the one that `[privacy]` states, because an axis that nobody named replaces it: who lowers the
/// one and forgets the other would spend more than the spec seems to say.
///
/// # Errors
/// [`ReleaseError::ReplacedEpsilon`].
pub(super) fn refuse_epsilon_of_unchosen_axis(
    experiment: &Experiment,
    chosen: &[String],
    released: &[f64],
) -> Result<(), ReleaseError> {
    let named = |axis: &ExperimentAxis| chosen.iter().any(|choice| choice.split('=').next() == Some(&axis.name));
    let axis = experiment.axes.iter().find(|axis| axis.path == EPSILON);
    // Without an axis of its own, another axis may set it; who names a cell has looked at the axes.
    let is_chosen = axis.map_or(!chosen.is_empty(), named);
    let is_changed =
        |words: &String| words.split(" = ").next().is_some_and(|path| [EPSILON, "epsilon"].contains(&path));
    if is_chosen || experiment.changes.iter().any(is_changed) {
        return Ok(());
    }
    let text: Option<toml::Table> = experiment.source.text().parse().ok();
    let stated = text.as_ref().and_then(|text| text.get("privacy")?.get("epsilon"));
    let stated = stated.and_then(|stated| stated.as_float().or_else(|| stated.as_integer().map(|whole| whole as f64)));
    match stated.filter(|stated| !released.contains(stated)) {
        None => Ok(()),
        Some(stated) => {
            let released = released.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            Err(ReleaseError::ReplacedEpsilon { stated, released })
        }
    }
}

/// The axes and their labels, for messages.
fn describe_axes(experiment: &Experiment) -> String {
    if experiment.axes.is_empty() {
        return "the spec has one cell and no axes; omit --cell".to_owned();
    }
    let mut text = "the axes are".to_owned();
    for axis in &experiment.axes {
        text.push_str(&format!("\n  {} = {}", axis.name, axis.labels.join(", ")));
    }
    text
}
