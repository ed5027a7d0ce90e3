//! What follows from a noisy histogram.

use nalgebra::{DMatrix, DVector};

use crate::ProcessSetting;
use crate::TaskError;
use dpgp_gp::kernel::Bins;
use dpgp_gp::{BinnedFamily, fit};
use dpgp_number::Positive;

/// An estimate of the density that can be asked for any point.
pub(super) enum DensityCurve<'a> {
    /// The densities of bins; zero outside all of them.
    Bins { bins: &'a Bins, densities: DVector<f64> },
    /// A process with parameters fitted by maximum likelihood.
    Process { family: BinnedFamily, logs: Vec<f64>, scaled: DVector<f64>, centre: f64, scale: f64 },
}

impl<'a> DensityCurve<'a> {
    /// From noisy densities: they are all that is known, so that whatever is fitted to them costs nothing more. `known` are the
    /// standard deviations of their noise, if the process is to know them; at the fitted parameters its mean is then the best linear
    /// prediction given the noisy densities, and its variance counts the noise. Otherwise noise of one size is fitted to all of them.
    pub fn new(
        process: Option<&ProcessSetting>,
        bins: &'a Bins,
        noisy: &DVector<f64>,
        known: Option<DVector<f64>>,
    ) -> Result<Self, TaskError> {
        let Some(setting) = process else { return Ok(Self::Bins { bins, densities: noisy.clone() }) };
        let (centre, scale) = match setting.standardise {
            true => (noisy.mean(), noisy.variance().sqrt()),
            false => (0.0, 1.0),
        };
        let scaled = noisy.map(|y| (y - centre) / scale);
        let fixed = setting.lengthscales.as_ref().map(|all| all.iter().map(|l| l.get()).collect());
        let mut family = BinnedFamily::new(bins.clone(), setting.observed, fixed);
        if let Some(sds) = known {
            family = family.with_known_noise(sds.iter().map(|sd| (sd / scale).powi(2)).collect());
        }
        let fit = fit(&family, &scaled, &starts(setting, bins, &scaled))?;
        Ok(Self::Process { family, logs: fit.logs, scaled, centre, scale })
    }

    pub fn at(&self, points: &DMatrix<f64>) -> Result<DVector<f64>, TaskError> {
        match self {
            Self::Bins { bins, densities } => Ok(DVector::from_fn(points.nrows(), |i, _| {
                let point: Vec<f64> = points.row(i).iter().copied().collect();
                bins.holding(&point).map_or(0.0, |bin| densities[bin])
            })),
            Self::Process { family, logs, scaled, centre, scale } => {
                Ok(family.predict(logs, scaled, points)?.map(|mean| mean * scale + centre))
            }
        }
    }

    /// The standard deviation of the latent function; zero for bins.
    pub fn sd(&self, points: &DMatrix<f64>) -> Result<Vec<f64>, TaskError> {
        match self {
            Self::Bins { .. } => Ok(vec![0.0; points.nrows()]),
            Self::Process { family, logs, scale, .. } => {
                Ok(family.variance(logs, points)?.iter().map(|v| v.sqrt() * scale).collect())
            }
        }
    }
}

/// Where the searches for parameters begin: the mean square of the observations as the kernel's variance, a hundredth or a
/// half of it as noise, and lengthscales of some widths of a bin unless they are fixed.
fn starts(setting: &ProcessSetting, bins: &Bins, scaled: &DVector<f64>) -> Vec<Vec<f64>> {
    let power = (scaled.norm_squared() / scaled.len() as f64).max(f64::MIN_POSITIVE);
    let widths = if setting.lengthscales.is_some() { &[Positive::ONE] } else { setting.widths.as_slice() };
    let mut starts = Vec::new();
    for width in widths {
        for share in [0.01, 0.5] {
            let mut start = vec![power.ln(), (share * power).ln()];
            if setting.lengthscales.is_none() {
                start
                    .extend((0..bins.dimensions()).map(|d| (width.get() * bins.interval(0, d).width()).ln()));
            }
            starts.push(start);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::normal_vector;
    use dpgp_gp::kernel::Observed;
    use dpgp_linalg::Cholesky;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn bins() -> Bins {
        Bins::grid(&[(0.0, 30.0, 30)])
    }

    fn setting(standardise: bool) -> ProcessSetting {
        let lengthscales = Some(vec![Positive::new(6.0).unwrap()]);
        ProcessSetting { observed: Observed::Average, lengthscales, widths: vec![Positive::ONE], standardise }
    }

    fn truth() -> DVector<f64> {
        DVector::from_fn(30, |i, _| 4.0 + 3.0 * ((i as f64 + 0.5) / 6.0).sin())
    }

    /// Little noise in the odd bins and much in the even ones.
    fn sds() -> DVector<f64> {
        DVector::from_fn(30, |i, _| if i % 2 == 0 { 4.0 } else { 0.2 })
    }

    fn noisy(seed: u64) -> DVector<f64> {
        truth() + normal_vector(30, &mut Pcg64::seed_from_u64(seed)).component_mul(&sds())
    }

    /// At the fitted parameters: `K_* (K + noise I + diag(sd^2))^-1 y`, and the variance that this leaves.
    #[test]
    fn a_curve_that_knows_the_noise_is_the_best_linear_prediction() {
        let (bins, y, points) = (bins(), noisy(7), DMatrix::from_column_slice(3, 1, &[0.3, 14.0, 33.0]));
        let setting = setting(true);
        let curve = DensityCurve::new(Some(&setting), &bins, &y, Some(sds())).unwrap();
        let DensityCurve::Process { family, logs, .. } = &curve else { panic!("bins alone") };
        let (centre, scale) = (y.mean(), y.variance().sqrt());
        let mut covariance = family.kernel(logs).matrix(&bins) * (scale * scale);
        (0..30).for_each(|i| covariance[(i, i)] += scale * scale * logs[1].exp() + sds()[i].powi(2));
        let common = family.kernel(logs).cross(&points, &bins).transpose() * (scale * scale);
        let weights = Cholesky::new("S", &covariance).unwrap().solve(&common);
        let expected = weights.tr_mul(&y.add_scalar(-centre)).add_scalar(centre);
        assert!((curve.at(&points).unwrap() - expected).amax() < 1e-9);
        let prior = logs[0].exp() * scale * scale;
        for (i, sd) in curve.sd(&points).unwrap().into_iter().enumerate() {
            let left = prior - weights.column(i).dot(&common.column(i));
            assert!((sd * sd - left).abs() < 1e-8 * prior, "{sd} {left}");
        }
    }

    /// Bins with much noise no longer spoil the others, and intervals hold the truth as often as they say.
    #[test]
    fn knowing_the_noise_errs_less() {
        let (bins, points) = (bins(), bins().centres());
        let (mut squares, mut held) = ([0.0; 2], 0);
        for seed in 0..10 {
            for (known, total) in [None, Some(sds())].into_iter().zip(&mut squares) {
                let setting = setting(false);
                let knows = known.is_some();
                let curve = DensityCurve::new(Some(&setting), &bins, &noisy(seed), known).unwrap();
                let missed = curve.at(&points).unwrap() - truth();
                *total += missed.norm_squared();
                let sd = curve.sd(&points).unwrap();
                let inside = missed.iter().zip(&sd).filter(|(missed, sd)| missed.abs() <= 1.645 * *sd);
                held += if knows { inside.count() } else { 0 };
            }
        }
        assert!(squares[1] < 0.25 * squares[0], "{squares:?}");
        let coverage = held as f64 / 300.0;
        assert!((0.8..=0.99).contains(&coverage), "{coverage}");
    }

    #[test]
    fn noise_of_nothing_is_as_good_as_unknown() {
        let (bins, y, setting) = (bins(), truth(), setting(false));
        let curves = [None, Some(DVector::zeros(30))].map(|known| {
            DensityCurve::new(Some(&setting), &bins, &y, known).unwrap().at(&bins.centres()).unwrap()
        });
        assert_eq!(curves[0], curves[1]);
    }
}
