//! `dpgp account`.

use std::num::NonZeroU32;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use serde_json::json;

use super::CliError;
use super::options::{OutputFormat, parse_number};
use super::output::{ComputedGuaranteeOutput, print, print_json};
use dpgp_accounting::{ComputedGuarantee, GivenEpsilonOrDelta, NeighbourRelation, PrivacyEvent, Sampling, composed_mu};
use dpgp_number::{Delta, Positive, Share};
use dpgp_report::format_exact;

const EXAMPLES: &str = "\
Releases of the same rows compose by the root of the sum of their squared mu, even if earlier ones influence later ones, if all protect
the same neighbours. A certificate states both; this command cannot check it. For subsampled steps, the answer is computed by loss distributions, as an upper and a lower bound.

Examples:
  dpgp account --delta 1e-6 --mu 0.3 --mu 0.4 --mu 0.5
  dpgp account --epsilon 1 --mu 0.7
  dpgp account --delta 1e-5 --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000 --relation add-remove";

/// Arguments of `dpgp account`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("given").required(true).args(["delta", "epsilon"])))]
#[command(group(ArgGroup::new("losses").required(true).args(["mu", "noise_multiplier"])))]
pub struct AccountArguments {
    /// Compute epsilon at this delta
    #[arg(long, value_name = "D", value_parser = parse_number(Delta::new), allow_negative_numbers = true)]
    delta: Option<Delta>,
    /// Compute delta at this epsilon
    #[arg(long, value_name = "E", value_parser = parse_number(Positive::new), allow_negative_numbers = true)]
    epsilon: Option<Positive>,
    /// The mu of a Gaussian release; repeat for each release of the same rows with the same neighbours
    #[arg(long, value_name = "MU", value_parser = parse_number(Positive::new), allow_negative_numbers = true)]
    mu: Vec<Positive>,
    /// The standard deviation of the noise of each step, divided by the norm bound on the contribution of one row
    #[arg(long, value_name = "S", value_parser = parse_number(Positive::new), allow_negative_numbers = true, requires_all = ["relation", "steps"])]
    noise_multiplier: Option<Positive>,
    /// The probability with which a row takes part in a step, independently of other rows [default: every row takes part]
    #[arg(long, value_name = "Q", value_parser = parse_number(Share::new), requires = "noise_multiplier", allow_negative_numbers = true)]
    sampling_rate: Option<Share>,
    /// The number of steps
    #[arg(long, value_name = "N", requires = "noise_multiplier")]
    steps: Option<NonZeroU32>,
    /// The neighbours: one row is added or removed, or replaced
    #[arg(long, value_name = "RELATION", value_parser = relation_parser(), requires = "noise_multiplier")]
    relation: Option<NeighbourRelation>,
}

/// Reads a relation by its name in specs.
fn relation_parser() -> impl TypedValueParser<Value = NeighbourRelation> {
    PossibleValuesParser::new(["add-remove", "replace-one"]).try_map(|name| serde_json::from_value(json!(name)))
}

/// Prints the epsilon or the delta of all releases or steps together.
pub fn account(arguments: &AccountArguments, format: OutputFormat) -> Result<(), CliError> {
    let given = match (arguments.delta, arguments.epsilon) {
        (Some(delta), _) => GivenEpsilonOrDelta::Delta(delta.get()),
        (None, Some(epsilon)) => GivenEpsilonOrDelta::Epsilon(epsilon.get()),
        (None, None) => unreachable!("the parser requires one of them"),
    };
    let mu = (!arguments.mu.is_empty()).then(|| composed_mu(arguments.mu.iter().map(|mu| mu.get())));
    let found = match (mu, arguments.event()) {
        (Some(mu), _) => ComputedGuarantee::from_mu(mu, given),
        (None, Some((event, relation))) => ComputedGuarantee::from_steps(&event, relation, given)?,
        (None, None) => unreachable!("the parser requires one of them"),
    };
    if format == OutputFormat::Json {
        let epsilon = Some(found.epsilon).filter(|epsilon| epsilon.is_finite());
        print_json(&json!(ComputedGuaranteeOutput { epsilon, delta: found.delta, at_least: found.at_least, mu }))
    } else {
        print(&text(found, mu, given))
    }
}

impl AccountArguments {
    /// The steps that the options describe; none if they name releases.
    fn event(&self) -> Option<(PrivacyEvent, NeighbourRelation)> {
        let sampling = self.sampling_rate.map_or(Sampling::FullBatch, |rate| Sampling::Poisson { rate: rate.get() });
        let (noise_multiplier, steps) = (self.noise_multiplier?.get(), self.steps?.get());
        Some((PrivacyEvent { noise_multiplier, sampling, steps }, self.relation?))
    }
}

fn text(found: ComputedGuarantee, mu: Option<f64>, given: GivenEpsilonOrDelta) -> String {
    let [epsilon, delta] = [("epsilon", found.epsilon), ("delta", found.delta)];
    let both = if matches!(given, GivenEpsilonOrDelta::Delta(_)) { [epsilon, delta] } else { [delta, epsilon] };
    let [computed, other] = both.map(|(name, number)| format!("{name} = {}", format_exact(number)));
    let at_least = found.at_least.map(|least| format!("; it is at least {}", format_exact(least)));
    let mu = mu.map(|mu| format!("; mu of all releases together: {}", format_exact(mu)));
    format!("{computed} at {other}{}\n", at_least.into_iter().chain(mu).collect::<String>())
}
