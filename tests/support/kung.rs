//! The !Kung women from the mirror named by `DPGP_MIRROR`, if there is one.

use std::path::PathBuf;

pub struct Women {
    pub ages: Vec<f64>,
    pub heights: Vec<f64>,
    pub weights: Vec<f64>,
}

/// The mirror directory; prints that the test is skipped where there is none.
pub fn mirror() -> Option<PathBuf> {
    let mirror = std::env::var_os("DPGP_MIRROR").map(PathBuf::from).filter(|m| m.is_dir());
    if mirror.is_none() {
        eprintln!("skipped: no mirror of the datasets (set DPGP_MIRROR)");
    }
    mirror
}

/// Ages and heights, read by hand so that the project's own reader is not its own witness.
pub fn women() -> Option<Women> {
    let text = std::fs::read_to_string(mirror()?.join("howell1/Howell1.csv")).unwrap();
    let cells = |line: &str| line.split(';').map(|c| c.parse::<f64>().unwrap()).collect::<Vec<_>>();
    let rows: Vec<Vec<f64>> = text.lines().skip(1).map(cells).filter(|r| r[3] == 0.0).collect();
    assert_eq!(rows.len(), 287);
    let column = |c: usize| rows.iter().map(|r| r[c]).collect();
    Some(Women { ages: column(2), heights: column(0), weights: column(1) })
}
