//! Claims, resolved against the axes and metrics of their experiment.

use toml::Table;

use super::claim::{Claim, OtherSide, RawClaim};
use super::experiment::Context;
use super::{Problem, Selector, SpecError, TaskSection};
use dpgp_number::OutOfRange;

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
        let one = raw.other.iter().map(|other| selector("other", other));
        let others = one.chain(raw.others.iter().map(|other| selector("others", other)));
        let others = others.collect::<Result<Vec<Selector>, SpecError>>()?;
        let other = match (others.is_empty(), raw.value, &raw.uniform) {
            (false, None, None) => OtherSide::Cells(others),
            (true, Some(value), None) => OtherSide::Number(value),
            (true, None, Some(pick)) => {
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
        let metrics = [("metric", Some(&raw.metric)), ("other_metric", raw.other_metric.as_ref())];
        for (key, metric) in metrics.into_iter().filter_map(|(key, metric)| Some((key, metric?))) {
            match metric.strip_suffix("/*") {
                Some(family) => self.family(&place(key), family)?,
                None => self.metric(&place(key), metric)?,
            }
        }
        if raw.other_metric.is_some() && !matches!(other, OtherSide::Cells(_)) {
            return Err(self.source.error(&place("other_metric"), Problem::OtherMetricNeedsCells));
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
            other_metric: raw.other_metric.clone(),
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
        let sides: Vec<&Table> = sides.into_iter().flatten().chain(&raw.others).collect();
        let free = |axis: &usize| {
            let name = &self.axes[*axis].name;
            sides.iter().all(|side| !side.contains_key(name))
        };
        (0..self.axes.len()).filter(|axis| (raw.paired || subtracts) && free(axis)).collect()
    }
}
