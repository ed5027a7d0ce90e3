//! Errors of the papers, by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The claim of a paper against a computed counter-example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrataTask {
    /// The error.
    pub erratum: Erratum,
}

impl ErrataTask {
    /// The metrics: what the paper says, what is true of that very statement, whether it holds, and the right number.
    pub const METRICS: [&str; 4] = ["claimed", "found", "holds", "corrected"];
}

macro_rules! errata {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The errors.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Erratum {
            $($(#[$doc])* $name,)*
        }

        impl Erratum {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

errata! {
    /// smith2016, the bound on a private mean function.
    RowNorm,
    /// smith2016, what inducing inputs gain.
    InducingGain,
    /// smith2016, Table 1, one person's weight in a density.
    DensityChange,
    /// smith2016, Figure 2, the classic constant at epsilon 20.
    LargeEpsilon,
    /// smith2016, the constant in the text and in the code.
    NoiseConstant,
    /// smith2016, the line above Equation 1.
    KernelScale,
    /// smith2016 and smith2021, data scaled by their own statistics.
    PrivateNormalisation,
    /// smith2021, Section 2.2.
    VarianceForDeviation,
    /// smith2021, Equation 13.
    SelectionSensitivity,
    /// smith2021, Section 5.1, the clip of its own algorithm.
    ToyClip,
    /// smith2021, directions that a pseudo-inverse drops.
    DroppedDirections,
    /// smith2021, the rank that noise depends on.
    RankTolerance,
    /// smith2021, the authors' code, a square root.
    SquaredSensitivity,
    /// smith2021, the gradient scheme.
    GradientScheme,
    /// smith2021, Section 4, as many predictions as labels.
    SquareCloak,
    /// smith2021, Section 4, the sign of W.
    CurvatureSign,
    /// smith2021, Section 4, the latent mean after one step.
    LatentMean,
    /// honkela2021, Equation 6.
    SumsSensitivity,
    /// honkela2021, Algorithm 1, the split ratio.
    SplitRatio,
    /// honkela2021, Equation 7.
    FeatureBound,
    /// honkela2021, Equation 8.
    SeparatedBound,
    /// honkela2021, Equation 10.
    Regularisation,
    /// honkela2021, Equation 14.
    CorrectionCovariance,
    /// honkela2021, Equation 19.
    ZcdpConversion,
    /// honkela2021, Equation 21.
    LabelVariance,
    /// honkela2021, Appendix D.
    HeteroscedasticNoise,
    /// honkela2021, Algorithm 2.
    RefusalTest,
    /// honkela2021, the number of noisy entries.
    SumsDimension,
    /// honkela2021, Figure 1, the bound on targets.
    TargetBound,
    /// jalko2016, the theorem on one step.
    EpsilonPerStep,
    /// jalko2016, amplification by sampling with replacement.
    RepeatedRecords,
    /// jalko2016, the composed epsilon.
    Looseness,
    /// jalko2016, what is clipped.
    ClippedPrior,
}
