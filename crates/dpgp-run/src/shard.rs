//! A part of the work, for runs on several machines.

use std::fmt;
use std::str::FromStr;

/// Part `number` (from 1) of `count`.
///
/// ```
/// let shard: dpgp_run::Shard = "2/3".parse()?;
/// assert!(shard.owns(1) && !shard.owns(2));
/// assert_eq!(shard.run(10), 3..6);
/// assert!("4/3".parse::<dpgp_run::Shard>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    count: usize,
}

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// The part of `total` things that it takes where each takes a run of them.
    pub fn run(self, total: u64) -> std::ops::Range<u64> {
        self.before(self.number - 1, total)..self.before(self.number, total)
    }

    /// The first of `total` things after so many parts.
    fn before(self, parts: usize, total: u64) -> u64 {
        (u128::from(total) * parts as u128 / self.count as u128) as u64
    }

    /// Whether the piece of work of this rank (from 0) belongs to it.
    pub fn owns(self, rank: usize) -> bool {
        rank % self.count == self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').map(|(number, count)| (number.parse(), count.parse()));
        match numbers {
            Some((Ok(number), Ok(count))) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err(format!("{text:?} is no shard; write i/n with i from 1 to n, for example 1/4")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_out_everything_once() {
        let shards: Vec<Shard> = (1..=3).map(|i| format!("{i}/3").parse().unwrap()).collect();
        for rank in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.owns(rank)).count(), 1);
        }
        let runs: Vec<_> = shards.iter().map(|shard| shard.run(10)).collect();
        assert_eq!(runs, [0..3, 3..6, 6..10]);
        assert_eq!(shards[1].to_string(), "2/3");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/3/5", "a/b", "1.0/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
