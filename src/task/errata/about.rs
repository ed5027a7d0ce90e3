//! What each erratum says, in words.

use crate::spec::Erratum;

/// An erratum in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The paper's key.
    pub paper: &'static str,
    /// Where in the paper.
    pub place: &'static str,
    /// What it says.
    pub statement: &'static str,
    /// The counter-example.
    pub example: &'static str,
    /// What is right.
    pub correction: &'static str,
    /// What it does to the paper's tables and figures.
    pub effect: &'static str,
}

/// The words of an erratum.
pub fn about(erratum: Erratum) -> About {
    let [paper, place, statement, example, correction, effect] = match erratum {
        Erratum::RowNorm => [
            "smith2016",
            "Section 4",
            "One target moves the mean function by at most the largest absolute row sum of its weights.",
            "One target between two inducing inputs enters both rows: the function moves further.",
            "One target touches a column: the exact sensitivity is the root of the largest diagonal entry \
             of A'KA.",
            "Figure 2 and Table 1 scale their noise by it; it happens to be too large there.",
        ],
        Erratum::InducingGain => [
            "smith2016",
            "Section 4, Figure 2",
            "Inducing inputs reduce the noise by the ratio of the two row sums.",
            "The ratio of the exact sensitivities on evenly spaced ages with the settings of the figure.",
            "Less than claimed, because the row sum is far too large without inducing inputs.",
            "On the bikes of Table 1 the gain is 6.5 instead of 13.5, and the noise without inducing inputs \
             about 37 instead of 726 at epsilon 0.1.",
        ],
        Erratum::DensityChange => [
            "smith2016",
            "Table 1",
            "One trip moves the density by at most 1.",
            "A bin of half an hour by five minutes has an area of 1/24 of an hour squared.",
            "One trip moves a density by one over the volume of its bin.",
            "The noise on the outputs of Table 1 is 24 times too small.",
        ],
        Erratum::LargeEpsilon => [
            "smith2016",
            "Figure 2",
            "Noise by the classic constant is (20, 0.01)-private.",
            "The exact delta of that noise.",
            "The classic proof needs epsilon <= 1; the exact calibration holds everywhere.",
            "The curves of Figure 2 that use the exact sensitivity break their guarantee.",
        ],
        Erratum::NoiseConstant => [
            "smith2016",
            "Section 2",
            "The standard deviation is sqrt(2 ln(1.25/delta)) per unit of sensitivity at epsilon 1.",
            "The authors' code uses sqrt(2 ln(2/delta)).",
            "The exact calibration needs less than either.",
            "The numbers of Table 1 follow from the code's constant.",
        ],
        Erratum::KernelScale => [
            "smith2016",
            "before Equation 1",
            "The variance of the kernel stands both inside and before the double integral.",
            "Quadrature of the kernel with variance 2 over two unit intervals.",
            "It stands there once, as in Equation 1.",
            "None: a slip of the text.",
        ],
        Erratum::PrivateNormalisation => [
            "smith2021",
            "Sections 6.1 to 6.7",
            "Clipping and centring by the midrange and the mean of private targets costs nothing.",
            "One of five targets moves: the centre that all predictions are added to moves too.",
            "Public bounds, or a part of the budget.",
            "All tables of heights; the variants with public bounds cost little accuracy.",
        ],
        Erratum::VarianceForDeviation => [
            "smith2021",
            "Section 2.2",
            "A Gaussian of variance 1.77 squared gives (1, 0.01).",
            "The exact delta of a standard deviation of 1.76.",
            "The number 3.11 is the standard deviation, not the variance.",
            "None: the method uses the right one.",
        ],
        Erratum::SelectionSensitivity => [
            "smith2021",
            "Equation 13",
            "The sum of squared errors moves by at most the sum of squared columns and 9 d^2.",
            "Lines through four and ten points that predict each other, all targets at their bounds.",
            "The cross term of the square counts: 2 T v - v^2 for an error that moves by v below the clip T.",
            "Table 2 and Figures 10 and 11 select with too large an epsilon.",
        ],
        Erratum::ToyClip => [
            "smith2021",
            "Section 5.1",
            "The constant is selected with probability 0.9987.",
            "The same with errors clipped at 4 d, as the paper's own Algorithm 1 does.",
            "With the clip the choice is far less certain.",
            "All numbers of Section 5.1.",
        ],
        Erratum::DroppedDirections => [
            "smith2021",
            "Section 2.3",
            "Noise by a pseudo-inverse covers the predictions.",
            "What lies in the dropped directions is released as it is: the true delta is 1.",
            "Release the projection of the mean on the directions that are kept.",
            "Less than 1e-8 cm in Table 1.",
        ],
        Erratum::RankTolerance => [
            "smith2021",
            "Table 1",
            "The log-det optimum determines the noise (cm).",
            "Its root mean square at a rank tolerance of 1e-10 beside that at 1e-2.",
            "The rank rule is part of the method; the trace optimum does not depend on it.",
            "The standard column of Table 1 moves from 11.5 to 14.1 with the tolerance.",
        ],
        Erratum::SquaredSensitivity => [
            "smith2021",
            "the authors' code",
            "Noise scaled by the largest c' M^-1 c is (1, 0.01)-private.",
            "That is the square of the sensitivity: for a sensitivity of 1/2 the noise is halved.",
            "Take the root before scaling.",
            "Noise is too small wherever the gradient scheme ends below 1.",
        ],
        Erratum::GradientScheme => [
            "smith2021",
            "Section 2.3",
            "Gradient steps of 0.05 converge (within 0.001 nats).",
            "The certified gap after 1000 steps on a sparse model.",
            "The problem is convex; an interior point solves it in 25 steps.",
            "Only utility: the noise is rescaled afterwards.",
        ],
        Erratum::SquareCloak => [
            "smith2021",
            "Section 4",
            "Cloaking makes the noise smaller for classification with as many latent values as labels \
             (ratio of volumes below 1).",
            "The optimum for a square C of full rank is noise on the labels.",
            "All of the gain comes from low rank, as in sparse models.",
            "Figures 6 and 7 depend on the rank tolerance.",
        ],
        Erratum::CurvatureSign => [
            "smith2021",
            "Section 4",
            "W is -pi (1 - pi).",
            "The curvature of the negative log-likelihood at zero.",
            "W is pi (1 - pi), and B is I + W^1/2 K W^1/2.",
            "None: a slip of the text.",
        ],
        Erratum::LatentMean => [
            "smith2021",
            "Section 4",
            "The latent mean k' K^-1 f equals k' grad log p(y|f).",
            "After one step from zero they differ.",
            "They agree at the mode; after a single private step the first is a definition.",
            "Figures 6 to 8 use the definition.",
        ],
        Erratum::SumsSensitivity => [
            "honkela2021",
            "Equation 6",
            "The sensitivity of the two sums is the printed root.",
            "At (R_k, R_y, c) = (1, 3, 1) it is smaller.",
            "It is 2 R_y R_k where R_y^2 > 2 c R_k^2.",
            "Figures 1 to 3 add more noise than they must.",
        ],
        Erratum::SplitRatio => [
            "honkela2021",
            "Algorithm 1",
            "The noise on B is that on A over c, at (1, 1e-5).",
            "Equation 6 has the variances in that ratio: the true delta at c = 4.",
            "Divide by the root of c.",
            "None at c = 1, which the figures use.",
        ],
        Erratum::FeatureBound => [
            "honkela2021",
            "Equation 7",
            "The squared norm of the covariances is at most the printed sum.",
            "The supremum over all inputs for the grid of Figure 1.",
            "The sum has m + 2 terms for m inducing inputs: two of them are superfluous.",
            "The sensitivity falls from 5.95 to 4.54 in Figure 1 and from 12.8 to 11.3 in Figure 2.",
        ],
        Erratum::SeparatedBound => [
            "honkela2021",
            "Equation 8",
            "The squared norm for separated inducing inputs is about the printed bound.",
            "The product of the sides of a seven by seven grid a lengthscale apart.",
            "For product grids take the product of the bounds of their sides.",
            "The noise of two-dimensional examples is twelve times too large.",
        ],
        Erratum::Regularisation => [
            "honkela2021",
            "Equation 10",
            "The noise on B exceeds lambda with probability 0.01 at most.",
            "With two inducing inputs the probability, by quadrature.",
            "The mean variance belongs inside the root; the semicircle edge is tight.",
            "Too small for m <= 9, as in Figures 1 and 3; 40 % too large at m = 256.",
        ],
        Erratum::CorrectionCovariance => [
            "honkela2021",
            "Equation 14",
            "The entries of E_b w are uncorrelated.",
            "The noise on B is symmetric: its entries (i, j) and (j, i) are the same.",
            "The covariance has w w' in the place of the diagonal matrix of its diagonal.",
            "The intervals of Figure 2.",
        ],
        Erratum::ZcdpConversion => [
            "honkela2021",
            "Equation 19",
            "Gaussian mechanisms may spend this rho at (3, 1e-4).",
            "The exact conversion for Gaussian mechanisms.",
            "Gaussian mechanisms compose to one, whose delta is known exactly.",
            "The CoinPress steps of Figure 3 are noisier than they must be.",
        ],
        Erratum::LabelVariance => [
            "honkela2021",
            "Equation 21",
            "A changed class moves one pair of sums.",
            "The noise variance depends on the label: all pairs move.",
            "Release the sums over the rows of each class: sensitivity sqrt(2 R^2 + 2 c R^4), whatever the \
             number of classes.",
            "Class sums are more accurate at every epsilon.",
        ],
        Erratum::HeteroscedasticNoise => [
            "honkela2021",
            "Appendix D",
            "With noise variances up to R the sensitivity is R times larger, at (1, 1e-5).",
            "Noise variances from 0.01 to 0.04: the noise is 2500 times too small.",
            "The factor is one over the least noise variance.",
            "A break of privacy wherever noise variances are below 1.",
        ],
        Erratum::RefusalTest => [
            "honkela2021",
            "Algorithm 2",
            "The score of a candidate is at most C + R.",
            "The score is a sum over rows and the bound is one of a row: the true model of Figure 3 exceeds \
             it.",
            "Test the mean.",
            "Figure 3 finds the noise with probability 0.18 to 0.23 instead of up to 0.95.",
        ],
        Erratum::SumsDimension => [
            "honkela2021",
            "Equation 5",
            "The second sum has the printed binomial number of entries.",
            "The triangle of a symmetric 9 by 9 matrix.",
            "d (d + 1) / 2.",
            "None: the noise is per entry.",
        ],
        Erratum::TargetBound => [
            "honkela2021",
            "Figure 1",
            "Targets are within 1.3.",
            "The probability that noise of 0.1 lifts a target at the top of the curve above it.",
            "Targets must be clipped to the public bound.",
            "Less than a target in a hundred.",
        ],
        Erratum::EpsilonPerStep => [
            "jalko2016",
            "Section 3.2",
            "The account holds up to epsilon = 10.",
            "The total epsilon at which a step reaches 1, where the theorem ends, in Figure 1(a).",
            "Loss distributions have no such limit.",
            "Beyond 5.2 in Figure 1(a); at a sampling ratio of 0.005 beyond 1.1.",
        ],
        Erratum::RepeatedRecords => [
            "jalko2016",
            "Section 3.2",
            "A batch holds a record at most once (probability of more).",
            "Batches of 66 of 3341 rows are drawn with replacement.",
            "The amplification is proved for Poisson samples, which the modern rows draw.",
            "All rows of Figure 1 with the paper's account.",
        ],
        Erratum::Looseness => [
            "jalko2016",
            "Section 3.2",
            "The noise of Figure 1(a) costs epsilon = 1.",
            "Loss distributions of the same noise, sampling taken as Poisson.",
            "The statement holds but is far from tight.",
            "15 to 56 times less noise does at equal epsilon.",
        ],
        Erratum::ClippedPrior => [
            "jalko2016",
            "Algorithm 1",
            "The prior's share of the gradient is kept.",
            "A prior gradient of 1 beside 99 of a row, clipped at 5 together.",
            "Clip the gradients of the rows alone.",
            "Weakens the prior where rows are clipped.",
        ],
    };
    About { paper, place, statement, example, correction, effect }
}
