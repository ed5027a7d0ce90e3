//! The rooms whose tests are put to the test.

use std::path::Path;

/// A part of the sources, and the share of its mutants that tests should notice.
pub struct Area {
    pub name: &'static str,
    pub aim: f64,
    /// Folders and files below `src`.
    places: &'static [&'static str],
}

pub const AREAS: [Area; 6] = [
    Area { name: "privacy", aim: 0.95, places: &["privacy"] },
    Area { name: "release", aim: 0.95, places: &["release"] },
    Area {
        name: "verdicts",
        aim: 0.95,
        places: &[
            "publish/table/verdict.rs",
            "publish/table/claims.rs",
            "publish/table/compare.rs",
            "publish/table/constant.rs",
            "publish/table/number.rs",
            "publish/results",
        ],
    },
    Area { name: "linalg", aim: 0.85, places: &["linalg"] },
    Area { name: "gp", aim: 0.85, places: &["gp"] },
    Area { name: "kernel", aim: 0.85, places: &["kernel"] },
];

pub fn named(name: &str) -> Result<&'static Area, String> {
    let known = AREAS.map(|area| area.name).join(", ");
    AREAS.iter().find(|area| area.name == name).ok_or(format!("no area is called {name}; there are {known}"))
}

impl Area {
    /// Whether a file, from the root of the project, is of this area.
    pub fn holds(&self, file: &Path) -> bool {
        file.strip_prefix("src").is_ok_and(|below| self.places.iter().any(|place| below.starts_with(place)))
            && file.extension().is_some_and(|ending| ending == "rs")
    }
}
