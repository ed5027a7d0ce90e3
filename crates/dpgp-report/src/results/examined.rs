//! Experiments beside what stands in their result folders.

use std::collections::BTreeMap;

use super::committed::Committed;
use super::error::PublishError;
use super::shelf::Shelf;
use dpgp_task::Experiment;

/// Where experiments stand that reproduce no paper.
pub const BEYOND: &str = "beyond";

/// An experiment and what stands in its result folder.
#[derive(Debug)]
pub struct Examined<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its results, if there are any.
    pub committed: Option<Committed>,
}

impl<'a> Examined<'a> {
    /// Reads the results of experiments, by paper; what reproduces none goes beyond them.
    ///
    /// # Errors
    /// [`PublishError`] if a table there cannot be read.
    pub fn by_paper(
        results: &Shelf<'_>,
        experiments: &'a [Experiment],
    ) -> Result<BTreeMap<&'a str, Vec<Self>>, PublishError> {
        let mut papers: BTreeMap<&str, Vec<Self>> = BTreeMap::new();
        for experiment in experiments {
            let committed = results.of(experiment)?;
            let paper = experiment.meta.paper.as_deref().unwrap_or(BEYOND);
            papers.entry(paper).or_default().push(Self { experiment, committed });
        }
        Ok(papers)
    }
}
