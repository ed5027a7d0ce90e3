//! The binary as a user meets it: one module per verb or concern.

mod audit;
mod bits;
mod check;
mod class_stats;
mod diff;
mod emit;
mod end_to_end;
mod extremes;
mod help;
mod histogram_stats;
mod kills;
mod leaderboard;
mod ledgers;
mod moments;
mod own_data;
mod parts;
mod persons;
mod places;
mod plan;
mod risk;
mod run;
mod shards;
mod signatures;
mod stats;
mod verbs;
