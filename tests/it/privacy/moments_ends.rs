//! Rows at the ends of the box.

use dpgp::gp::sites::{FeatureSums, NoisyFeatureSums, SiteCountPosterior, SiteFeatures, box_midpoint_grid};
use dpgp::privacy::Frequencies;
use nalgebra::{DMatrix, DVector};

/// Rows from outside the box count as rows at its ends. The counts say so, and no rows between sites are needed to explain their sums.
#[test]
fn rows_from_outside_are_counted_at_the_ends() {
    let (b, t) = (Frequencies::ball(3, 9, 2), Frequencies::ball(5, 25, 2));
    let t = t.filter_flagged(&(0..t.len()).map(|k| k > 0).collect::<Vec<bool>>());
    let features = b.site_features(&t, 1.2, false);
    // A sixth of them comes from beyond each end of each input.
    let rows = box_midpoint_grid(2, 90).map(|place| (1.5 * place - 0.25).clamp(0.0, 1.0));
    let counts = counts_of(&b, &t, &features, &rows);
    assert_eq!(counts.clumping, 0.0);
    for corner in [0, 19, 380, 399] {
        assert!((counts.mean[corner] / (8100.0 / 36.0) - 1.0).abs() < 0.2, "{}", counts.mean[corner]);
    }
}

/// Six sites along an input reach to its ends, too: the counts of rows at the corners explain their sums.
#[test]
fn rows_of_four_inputs_with_two_values_each_are_counted_at_the_corners() {
    let (b, t) = (Frequencies::ball(1, 4, 4), Frequencies::ball(2, 8, 4));
    let t = t.filter_flagged(&(0..t.len()).map(|k| k > 0).collect::<Vec<bool>>());
    let features = b.site_features(&t, 1.2, false);
    let rows = DMatrix::from_fn(8000, 4, |row, input| f64::from((row >> input & 1) as u8));
    let counts = counts_of(&b, &t, &features, &rows);
    assert_eq!(counts.clumping, 0.0);
    let at_corners: f64 =
        (0..1296).filter(|site| is_corner(&features.sites, *site)).map(|site| counts.mean[site]).sum();
    assert!((at_corners / 8000.0 - 1.0).abs() < 0.05, "{at_corners}");
}

fn is_corner(sites: &DMatrix<f64>, site: usize) -> bool {
    sites.row(site).iter().all(|place| *place == 0.0 || *place == 1.0)
}

/// The counts at the sites from noisy sums over rows whose targets are zero.
fn counts_of(b: &Frequencies, t: &Frequencies, features: &SiteFeatures, rows: &DMatrix<f64>) -> SiteCountPosterior {
    let sums = FeatureSums::new(&b.features(rows, 1.2), &t.features(rows, 1.2), &vec![0.0; rows.nrows()]);
    let released = NoisyFeatureSums {
        weighted: DVector::from_element(sums.weighted.len(), 100.0),
        plain: DVector::from_element(sums.plain.len(), 100.0),
        squares: 100.0,
        rows: 0.0,
        sums,
    };
    SiteCountPosterior::new(features, &released).unwrap()
}
