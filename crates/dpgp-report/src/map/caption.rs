//! What is said below a map.

use super::names::shown;
use super::released_map::ReleasedMap;
use dpgp_number::text::brief;

/// The 97.5 % point of the normal distribution, as of the intervals in the file.
pub(super) const CENTRAL_95: f64 = 1.959_963_984_540_054;
/// What both parts of the uncertainty stand for.
const PARTS: &str = "gp_sd is what the model leaves open, its pull towards the mean of the prior (regularisation bias) included; noise_sd is what the \
    privacy noise adds.";
/// What a map without a cell to look at says.
const NOTHING_SHOWN: &str = "No cell is left, so that there is no scale of colours: more rows, a larger epsilon or a longer lengthscale would \
    tell more, as `dpgp predict --preview` says beforehand. The table and the intervals hold all the same.";

impl ReleasedMap<'_> {
    /// What is guaranteed of the numbers, and what the picture leaves out.
    pub fn caption(&self) -> Vec<String> {
        let mut said: Vec<String> = self.in_plain_words().into_iter().chain(self.reach()).collect();
        let places: Vec<String> = self.places().collect();
        // A title of the user's own need not say it.
        if !places.is_empty() {
            said.push(format!("Drawn at {}.", places.join(", ")));
        }
        said.extend(self.released.statement.said.iter().cloned());
        if self.y.is_some() {
            let (masked, all) = (self.masked(), self.cells.len());
            let share = brief(100.0 * masked as f64 / all as f64);
            said.push(format!("Hatched: {}; {masked} of {all} cells ({share} %).", self.mask.rule()));
            if masked == all {
                said.push(NOTHING_SHOWN.to_owned());
            }
        }
        said.push(PARTS.to_owned());
        said.push(
            "Drawn from the numbers of the file alone: the picture tells no more than they do.".to_owned(),
        );
        said
    }

    /// The definition of the guarantee: `P(S) <= e^epsilon P'(S) + delta` for every set S of outputs.
    fn in_plain_words(&self) -> Option<String> {
        let statement = &self.released.statement;
        let (epsilon, delta) = (statement.epsilon?, statement.delta?);
        let (factor, neighbours) = (brief(epsilon.exp()), statement.neighbours.as_deref()?);
        Some(format!(
            "Privacy: whatever is concluded from these numbers has at most {factor} times the probability, plus {delta:?}, that it has for \
             other data ({neighbours})."
        ))
    }

    /// How far the intervals of what is shown reach; none where nothing is claimed of the numbers.
    fn reach(&self) -> Option<String> {
        self.released.statement.guarantee.as_ref()?;
        let seen = self.cells.iter().filter(|cell| !cell.is_masked);
        let mut sds: Vec<f64> = seen.map(|cell| CENTRAL_95 * cell.point.uncertainty()).collect();
        sds.sort_by(f64::total_cmp);
        let unit = self.options.unit.as_deref().map_or(String::new(), |unit| format!(" {}", shown(unit)));
        let (half, most) = (sds.get(sds.len() / 2)?, sds.get(sds.len() * 9 / 10)?);
        Some(format!(
            "Accuracy: if the model is right, its lengthscales above all, 95 % intervals of the function, which single rows scatter around, reach at most ± {}{unit} in half of \
             what is shown, and ± {}{unit} in nine tenths.",
            brief(*half),
            brief(*most)
        ))
    }
}
