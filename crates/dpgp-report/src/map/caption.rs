//! The caption of a map: three sentences, and further ones for readers who want more.

use super::released_map::ReleasedMap;
use super::svg::CENTRAL_95;
use dpgp_number::text::format_brief;

/// The sentences below a map.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MapCaption {
    /// At most three.
    pub first: Vec<String>,
    /// What a page folds.
    pub more: Vec<String>,
}

impl MapCaption {
    /// All sentences.
    pub fn all(&self) -> Vec<String> {
        self.first.iter().chain(&self.more).cloned().collect()
    }
}

/// The meaning of both parts of the uncertainty.
const PARTS: &str = "The standard error combines gp_sd and noise_sd. gp_sd is the uncertainty of the model, including \
    its pull towards the prior mean (regularisation bias). noise_sd is the privacy noise.";
/// The same for counts.
const PARTS_OF_COUNT: &str = "The standard error combines gp_sd and noise_sd. gp_sd is the uncertainty that counts of other \
    bins leave about the exact count of a bin. noise_sd is the privacy noise.";
/// The note on a map whose cells are all hatched.
const NOTHING_SHOWN: &str = "Every cell is too uncertain to show, so there is no colour scale. More rows, a larger epsilon or a longer \
    lengthscale would show more; `dpgp predict --preview` estimates this in advance. The table and the intervals remain \
    valid.";
/// What the accuracy takes for granted.
const ASSUMED: &str = "The intervals assume that the model fits, above all its lengthscales. Single rows vary more.";
const ASSUMED_OF_COUNTS: &str = "The intervals are for the exact counts. They assume that neighbouring bins have similar \
     counts, to the degree that the noisy counts show.";
const FROM_THE_FILE: &str = "The picture is drawn only from the numbers in the file and reveals nothing more.";

impl ReleasedMap<'_> {
    /// First the guarantee, the accuracy and the hatching; then the rest of the certificate, and what the drawing leaves out.
    pub fn caption(&self) -> MapCaption {
        let mut said = self.released.statement.said.iter().cloned();
        // The first sentence of a certificate says what somebody can guess; that of no certificate, that nothing is claimed.
        let first: Vec<String> =
            said.next().into_iter().chain(self.accuracy_sentence()).chain(self.hatching_sentence()).collect();
        let places: Vec<String> = self.fixed_inputs().collect();
        // A title of the user's own need not say it.
        let drawn_at = (!places.is_empty()).then(|| format!("Drawn at {}.", places.join(", ")));
        let is_accurate = self.released.statement.guarantee.is_some();
        let all_hatched = self.y.is_some() && self.masked_count() == self.cells.len();
        let mut more: Vec<String> =
            drawn_at.into_iter().chain(self.off_scale_sentence()).chain(self.outline_sentence()).collect();
        more.extend(self.privacy_sentence());
        more.extend(said);
        let (assumed, parts) = match self.released.statement.counts {
            true => (ASSUMED_OF_COUNTS, PARTS_OF_COUNT),
            false => (ASSUMED, PARTS),
        };
        more.extend(is_accurate.then(|| assumed.to_owned()));
        more.extend(all_hatched.then(|| NOTHING_SHOWN.to_owned()));
        more.extend([parts, FROM_THE_FILE].map(str::to_owned));
        MapCaption { first, more }
    }

    fn hatching_sentence(&self) -> Option<String> {
        self.y.as_ref()?;
        let (masked, all) = (self.masked_count(), self.cells.len());
        let share = format_brief(100.0 * masked as f64 / all as f64);
        Some(format!("Hatched: {}; {masked} of {all} cells ({share} %).", self.mask.describe_rule(&self.unit())))
    }

    /// The numbers that a scale of the user's own cuts off.
    fn off_scale_sentence(&self) -> Option<String> {
        let scale = self.options.scale?;
        let seen: Vec<f64> = self.cells.iter().filter(|cell| !cell.is_masked).map(|cell| cell.point.mean).collect();
        let beyond = seen.iter().filter(|mean| scale.is_beyond(**mean)).count();
        let [low, high] = [scale.low, scale.high].map(format_brief);
        Some(format!(
            "The scale was set to {low} to {high}; {beyond} of the {} means shown lie outside it.",
            seen.len()
        ))
    }

    fn outline_sentence(&self) -> Option<String> {
        self.options.outline.as_ref().map(|outline| format!("The lines come from {}.", outline.name()))
    }

    /// The definition of the guarantee: `P(S) <= e^epsilon P'(S) + delta` for every set S of outputs.
    fn privacy_sentence(&self) -> Option<String> {
        let statement = &self.released.statement;
        // Who sees this answer may see the others.
        let (numbers, (epsilon, delta)) = match statement.of_all_answers {
            Some(all) => ("these numbers and the other answers", all),
            None => ("these numbers", (statement.epsilon?, statement.delta?)),
        };
        let (factor, neighbours) = (format_brief(epsilon.exp()), statement.neighbours.as_deref()?);
        Some(format!(
            "Privacy: any conclusion from {numbers} has at most {factor} times the probability, plus {delta:?}, \
             that it would have on neighbouring data ({neighbours})."
        ))
    }

    /// The half-widths of the shown intervals; none if no guarantee is claimed.
    fn accuracy_sentence(&self) -> Option<String> {
        self.released.statement.guarantee.as_ref()?;
        let seen = self.cells.iter().filter(|cell| !cell.is_masked);
        let mut sds: Vec<f64> = seen.map(|cell| CENTRAL_95 * cell.point.uncertainty()).collect();
        sds.sort_by(f64::total_cmp);
        let (half, most) = (sds.get(sds.len() / 2)?, sds.get(sds.len() * 9 / 10)?);
        let shown = if self.y.is_some() { "coloured cells" } else { "points" };
        Some(format!(
            "Accuracy: half of the {shown} have a 95 % interval of at most ±{}{}, nine tenths of at most ±{}{}.",
            format_brief(*half),
            self.unit(),
            format_brief(*most),
            self.unit()
        ))
    }
}
