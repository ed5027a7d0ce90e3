//! The errata by name: a line for each.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Numbers, honkela2021, jalko2016, lawrence2017, selection, smith2016, smith2021, table2};
use crate::TaskError;
use dpgp_data::suggest::closest;

/// Computes a counter-example.
type Computation = fn() -> Result<Numbers, TaskError>;

const REGISTRY: [(&str, Computation); 41] = [
    ("row-norm", smith2016::row_norm),
    ("inducing-gain", smith2016::inducing_gain),
    ("density-change", || Ok(smith2016::density_change())),
    ("large-epsilon", || Ok(smith2016::large_epsilon())),
    ("noise-constant", || Ok(smith2016::noise_constant())),
    ("kernel-scale", || Ok(smith2016::kernel_scale())),
    ("private-normalisation", || Ok(smith2021::private_normalisation())),
    ("variance-for-deviation", || Ok(smith2021::variance_for_deviation())),
    ("dual-direction", || Ok(smith2021::dual_direction())),
    ("selection-sensitivity", selection::selection_sensitivity),
    ("ascending-sort", selection::ascending_sort),
    ("sum-twice", selection::sum_twice),
    ("toy-clip", selection::toy_clip),
    ("delta-squared", smith2021::delta_squared),
    ("largest-fold-dropped", selection::largest_fold_dropped),
    ("weighted-sum", || Ok(table2::weighted_sum())),
    ("mean-of-all", || Ok(table2::mean_of_all())),
    ("lowest-error", || Ok(table2::lowest_error())),
    ("dropped-directions", smith2021::dropped_directions),
    ("rank-tolerance", smith2021::rank_tolerance),
    ("gradient-scheme", smith2021::gradient_scheme),
    ("square-cloak", smith2021::square_cloak),
    ("curvature-sign", || Ok(smith2021::curvature_sign())),
    ("latent-mean", || Ok(smith2021::latent_mean())),
    ("sums-sensitivity", || Ok(honkela2021::sums_sensitivity())),
    ("feature-bound", || Ok(honkela2021::feature_bound())),
    ("separated-bound", || Ok(honkela2021::separated_bound())),
    ("regularisation", || Ok(honkela2021::regularisation())),
    ("correction-covariance", || Ok(honkela2021::correction_covariance())),
    ("zcdp-conversion", || Ok(honkela2021::zcdp_conversion())),
    ("dirichlet-variance", || Ok(honkela2021::dirichlet_variance())),
    ("label-variance", || Ok(honkela2021::label_variance())),
    ("heteroscedastic-noise", || Ok(honkela2021::heteroscedastic_noise())),
    ("refusal-test", || Ok(honkela2021::refusal_test())),
    ("sums-dimension", || Ok(honkela2021::sums_dimension())),
    ("epsilon-per-step", jalko2016::epsilon_per_step),
    ("repeated-records", || Ok(jalko2016::repeated_records())),
    ("looseness", jalko2016::looseness),
    ("clipped-prior", || Ok(jalko2016::clipped_prior())),
    ("squared-bound", || Ok(lawrence2017::squared_bound())),
    ("worse-than-none", || Ok(lawrence2017::worse_than_none())),
];

/// An erratum that has a function, as specs name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erratum(usize);

impl Erratum {
    /// The names, in the order of the registry.
    pub fn names() -> Vec<&'static str> {
        REGISTRY.map(|(name, _)| name).to_vec()
    }

    /// The erratum of a name, if the registry has it.
    pub fn named(name: &str) -> Option<Self> {
        Self::names().into_iter().position(|known| known == name).map(Self)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        REGISTRY[self.0].0
    }

    /// Computes its counter-example.
    ///
    /// # Errors
    /// [`TaskError`] if a factorisation fails.
    pub fn numbers(self) -> Result<Numbers, TaskError> {
        REGISTRY[self.0].1()
    }
}

impl Serialize for Erratum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Erratum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| {
            let near = closest(&name, Self::names()).map(|near| format!(" (did you mean {near:?}?)"));
            D::Error::custom(format!(
                "nothing computes the erratum {name:?}{}; there are: {}",
                near.unwrap_or_default(),
                Self::names().join(", ")
            ))
        })
    }
}
