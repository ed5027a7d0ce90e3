//! The Rényi accountant.

use super::accountant::refuse;
use super::error::{check_delta, check_epsilon};
use super::moment::log_moment;
use super::{Accountant, AccountingError, Event, Relation, Sampling, Spent};

/// The accountant of Rényi differential privacy, for full batches and for Poisson sampling with add-remove
/// neighbours. It bounds from above only.
///
/// The divergence of order `a` of one step is `a s^2 / (2 m^2)` for full batches (sensitivity `s`, noise multiplier
/// `m`), and for Poisson sampling that of [`log_moment`] over `a - 1`: the larger of both directions (Mironov, Talwar
/// and Zhang 2019, Theorem 5; Theorem 4 reduces vectors to one dimension). Divergences of one order add up over
/// steps. For every `a > 1`
///
/// `epsilon = rdp + ln((a-1)/a) - (ln delta + ln a) / (a-1)`
///
/// (Canonne, Kamath and Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21), and the least over real
/// orders is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renyi;

impl Renyi {
    /// The Rényi divergence of the given order (above 1) between neighbours, over all steps. Units: nats.
    pub fn divergence(self, event: &Event, relation: Relation, order: f64) -> Result<f64, AccountingError> {
        if !(order > 1.0 && order.is_finite()) {
            let (what, condition) = ("the order", "above 1 and finite");
            return Err(AccountingError::OutOfRange { what, condition, value: order });
        }
        self.cover(event, relation)?;
        Ok(divergence(event, relation, order))
    }

    fn cover(&self, event: &Event, relation: Relation) -> Result<(), AccountingError> {
        event.check()?;
        match (event.sampling.simplest(), relation) {
            (Sampling::FullBatch, _) | (Sampling::Poisson { .. }, Relation::AddRemove) => Ok(()),
            _ => {
                let why = "its moments are those of a record that a Poisson sample adds";
                refuse(
                    self,
                    (event, relation),
                    why,
                    "full batches, and Poisson sampling for add-remove neighbours",
                )
            }
        }
    }
}

fn divergence(event: &Event, relation: Relation, order: f64) -> f64 {
    let noise = event.noise_multiplier;
    let one_step = match event.sampling.simplest() {
        Sampling::FullBatch => 0.5 * order * (relation.sensitivity() / noise).powi(2),
        sampling => log_moment(sampling.rate(), noise, order) / (order - 1.0),
    };
    f64::from(event.steps) * one_step
}

impl Accountant for Renyi {
    fn name(&self) -> &'static str {
        "Rényi"
    }

    fn epsilon(&self, event: &Event, relation: Relation, delta: f64) -> Result<Spent, AccountingError> {
        check_delta(delta)?;
        self.cover(event, relation)?;
        let least = least(|order| {
            let conversion = (1.0 - 1.0 / order).ln() - (delta * order).ln() / (order - 1.0);
            divergence(event, relation, order) + conversion
        });
        Ok(Spent::at_most(least.max(0.0)))
    }

    fn delta(&self, event: &Event, relation: Relation, epsilon: f64) -> Result<Spent, AccountingError> {
        check_epsilon(epsilon)?;
        self.cover(event, relation)?;
        let log_delta = least(|order| {
            let gain = divergence(event, relation, order) + (1.0 - 1.0 / order).ln() - epsilon;
            (order - 1.0) * gain - order.ln()
        });
        Ok(Spent::at_most(log_delta.min(0.0).exp()))
    }
}

/// The least value over orders above 1: a scan of `ln(order - 1)` until the function has risen for long, then
/// golden sections. Every order gives a bound, so a missed minimum costs tightness alone.
fn least(f: impl Fn(f64) -> f64) -> f64 {
    let at = |t: f64| f(1.0 + t.exp());
    let (mut best, mut t) = ((-7.0, at(-7.0)), -7.0);
    while t < 16.0 && t - best.0 < 3.0 {
        t += 0.25;
        let value = at(t);
        if value < best.1 {
            best = (t, value);
        }
    }
    golden_section(at, (best.0 - 0.25, best.0 + 0.25)).min(best.1)
}

fn golden_section(f: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let inner = |low: f64, high: f64| (high - ratio * (high - low), low + ratio * (high - low));
    let (mut a, mut b) = inner(low, high);
    let (mut fa, mut fb) = (f(a), f(b));
    while high - low > 1e-7 {
        if fa < fb {
            (high, b, fb) = (b, a, fa);
            a = inner(low, high).0;
            fa = f(a);
        } else {
            (low, a, fa) = (a, b, fb);
            b = inner(low, high).1;
            fb = f(b);
        }
    }
    fa.min(fb)
}
