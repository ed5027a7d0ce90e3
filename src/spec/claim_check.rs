//! Claims, resolved against the axes and metrics of their experiment.

use toml::Table;

use super::claim::{Claim, OtherSide, RawClaim};
use super::experiment::Context;
use super::{Problem, Selector, SpecError, TaskSection};
use crate::number::OutOfRange;

impl<T: TaskSection> Context<'_, T> {
    pub(super) fn claim(&self, i: usize, raw: &RawClaim) -> Result<Claim, SpecError> {
        let number = i.to_string();
        let place = |key| ["claim", number.as_str(), key];
        if raw.quote.is_some() != raw.place.is_some() {
            return Err(self.source.error(&["claim", &number], Problem::QuoteNeedsPlace));
        }
        let selector = |key, table: &Table| Selector::new(table, self.axes, self.source, &place(key));
        let optional =
            |key, table: &Option<Table>| table.as_ref().map(|table| selector(key, table)).transpose();
        let other = match (&raw.other, raw.value, &raw.uniform) {
            (Some(other), None, None) => OtherSide::Cells(selector("other", other)?),
            (None, Some(value), None) => OtherSide::Number(value),
            (None, None, Some(pick)) => {
                self.family(&place("uniform"), &pick.of)?;
                self.family(&place("uniform"), &pick.allowed)?;
                OtherSide::Uniform(pick.clone())
            }
            _ => return Err(self.source.error(&["claim", &number], Problem::ClaimNeedsOneSide)),
        };
        if let Some(share) = raw.share.filter(|share| !(0.0..1.0).contains(share)) {
            let problem = OutOfRange::new("at least 0 and less than 1", share).into();
            return Err(self.source.error(&place("share"), problem));
        }
        match raw.metric.strip_suffix("/*") {
            Some(family) => self.family(&place("metric"), family)?,
            None => self.metric(&place("metric"), &raw.metric)?,
        }
        Ok(Claim {
            from: raw.owner(),
            place: raw.place.clone().unwrap_or_default(),
            quote: raw.quote.clone().unwrap_or_default(),
            text: raw.text.clone(),
            metric: raw.metric.clone(),
            cells: selector("cells", &raw.cells)?,
            minus: optional("minus", &raw.minus)?,
            is: raw.is,
            other,
            other_minus: optional("other_minus", &raw.other_minus)?,
            margin: raw.margin,
            share: raw.share,
            agree: self.agreeing(raw),
            open: self.open(&raw.cells),
        })
    }

    /// The axes with several labels that a side does not name.
    fn open(&self, side: &Table) -> Vec<(usize, String)> {
        let all = self.axes.iter().enumerate();
        let open = all.filter(|(_, axis)| axis.labels.len() > 1 && !side.contains_key(&axis.name));
        open.map(|(i, axis)| (i, axis.name.clone())).collect()
    }

    /// The axes on which rows agree that a claim compares: if it pairs them, or subtracts one from the other, those that no side names.
    fn agreeing(&self, raw: &RawClaim) -> Vec<usize> {
        let subtracts = raw.minus.is_some() || raw.other_minus.is_some();
        let sides = [Some(&raw.cells), raw.minus.as_ref(), raw.other.as_ref(), raw.other_minus.as_ref()];
        let free = |axis: &usize| {
            let name = &self.axes[*axis].name;
            sides.iter().flatten().all(|side| !side.contains_key(name))
        };
        (0..self.axes.len()).filter(|axis| (raw.paired || subtracts) && free(axis)).collect()
    }
}
