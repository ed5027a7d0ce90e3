//! A leaderboard on the page: methods as rows, with the best number of each column in bold.

use serde::Serialize;

use super::anchor;
use crate::results::committed::ExperimentResults;
use crate::{RankedMethod, Ranking, RankingFilter, format_short};

/// The tag of experiments that are leaderboards.
const TAG: &str = "leaderboard";

/// A leaderboard as the page shows it.
#[derive(Debug, Serialize)]
pub(super) struct PageLeaderboard {
    title: String,
    anchor: String,
    metric: String,
    greatest: bool,
    columns: Vec<String>,
    methods: Vec<LeaderboardRow>,
}

/// A method.
#[derive(Debug, Serialize)]
struct LeaderboardRow {
    name: String,
    hides: String,
    /// One cell for each column; none if the method was not run there.
    cells: Vec<Option<LeaderboardCell>>,
}

/// The result of a method in a column.
#[derive(Debug, Serialize)]
struct LeaderboardCell {
    value: String,
    error: String,
    best: bool,
    level: bool,
}

impl PageLeaderboard {
    /// The leaderboard of an experiment; none if it is no leaderboard or was not run. Methods stand in the order of the column in
    /// the middle.
    pub fn from_results(examined: &ExperimentResults<'_>) -> Option<Self> {
        let (experiment, committed) = (examined.experiment, examined.committed.as_ref()?);
        if !experiment.meta.tags.iter().any(|tag| tag == TAG) {
            return None;
        }
        let rankings = Ranking::rank_all(experiment, committed, &RankingFilter::default(), &[]);
        let middle = rankings.get(rankings.len() / 2)?;
        let methods = middle.methods.iter().map(|method| line(method, &rankings));
        Some(Self {
            title: experiment.meta.title.clone(),
            anchor: anchor(&experiment.name),
            metric: middle.metric.clone(),
            greatest: middle.greatest,
            columns: rankings.iter().map(|ranking| ranking.column.clone()).collect(),
            methods: methods.collect(),
        })
    }
}

fn line(method: &RankedMethod, rankings: &[Ranking]) -> LeaderboardRow {
    let own = rankings.iter().map(|ranking| ranking.methods.iter().find(|m| m.method == method.method));
    LeaderboardRow {
        name: method.method.clone(),
        hides: method.hides_text(),
        cells: own.map(|found| found.map(cell)).collect(),
    }
}

fn cell(method: &RankedMethod) -> LeaderboardCell {
    let best = method.place == Some(1);
    let error = method.standard_error;
    LeaderboardCell {
        value: format_short(method.value),
        error: if error > 0.0 { format_short(error) } else { String::new() },
        best,
        level: method.level_with_best && !best,
    }
}
