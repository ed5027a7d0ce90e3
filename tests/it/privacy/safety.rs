//! Every noise design of the shipped experiments, certified in 400-bit arithmetic over all directions of what is released.

use dpgp::gp::{
    KMeansOptions, PredictionMap, exact_prediction_map, fitc_prediction_map, kmeans, polynomial_prediction_map,
};
use dpgp::kernel::{DensityLengthscale, ExponentiatedQuadratic, GibbsKernel, Kernel};
use dpgp::privacy::{CloakingOptions, DroppedDirectionRule, Objective, Solver, design_cloaking_noise};
use nalgebra::DMatrix;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::support::exact_certificate::largest_leverage;
use crate::support::kung::women;

fn assert_safe(name: &str, map: &PredictionMap) {
    for objective in [Objective::LogDet, Objective::Trace] {
        for release in [DroppedDirectionRule::Projection, DroppedDirectionRule::Jitter] {
            let options = CloakingOptions { objective, rank_tolerance: 1e-8, solver: Solver::InteriorPoint, release };
            let design = design_cloaking_noise(map.distinct_columns(), &map.targets_per_column(), &options).unwrap();
            let leverage = largest_leverage(&design);
            assert!(leverage <= 1.0 + 1e-9, "{name} {objective:?} {release:?}: {leverage}");
            if release == DroppedDirectionRule::Projection {
                let gap = design.gap.unwrap();
                assert!(gap <= 1e-8, "{name} {objective:?}: gap {gap}");
            }
        }
    }
}

#[test]
fn the_toy() {
    let x = [0.0, 1.0, 2.0, 4.0];
    let column = |rows: [usize; 2]| DMatrix::from_fn(2, 1, |i, _| x[rows[i]]);
    for (training, test) in [([0, 1], [2, 3]), ([2, 3], [0, 1]), ([0, 2], [1, 3]), ([1, 3], [0, 2])] {
        for degree in [0, 1] {
            let map = polynomial_prediction_map(degree, &column(training), &column(test)).unwrap();
            assert_safe(&format!("degree {degree}, trained on {training:?}"), &map);
        }
    }
}

/// One fold of each cell of Table 1.
#[test]
fn table_one() {
    let Some(women) = women() else { return };
    for dimensions in [1, 2] {
        let all = DMatrix::from_fn(287, dimensions, |i, j| [&women.ages, &women.weights][j][i]);
        let rows = |keep: fn(usize) -> bool| all.select_rows(&(0..287).filter(|i| keep(*i)).collect::<Vec<_>>());
        let (training, test) = (rows(|i| i % 14 != 0), rows(|i| i % 14 == 0));
        let eq = ExponentiatedQuadratic::isotropic(10.0, 15.0);
        let gibbs = GibbsKernel::new(10.0, DensityLengthscale::new(&all, 5.0, 120.0, 150.0));
        let kernels: [(&str, &dyn Kernel); 2] = [("standard", &eq), ("nonstationary", &gibbs)];
        for (name, kernel) in kernels {
            let map = exact_prediction_map(kernel, 25.0, &training, &test).unwrap();
            assert_safe(&format!("{name}, {dimensions}d"), &map);
        }
        let options = KMeansOptions { centres: 5, restarts: 10, steps: 300 };
        let inducing = kmeans(&training, options, &mut Pcg64::from_seed([1; 32]));
        let map = fitc_prediction_map(&eq, 25.0, &inducing, &training, &test).unwrap();
        assert_safe(&format!("sparse, {dimensions}d"), &map);
    }
}
