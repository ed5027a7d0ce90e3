//! A part of the work, for runs on several machines.

use std::fmt;
use std::str::FromStr;

/// Part `number` (from 1) of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    count: usize,
}

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

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
        let wrong = || format!("{text:?} is no shard; write i/n with i from 1 to n, for example 1/4");
        let (number, count) = text.split_once('/').ok_or_else(wrong)?;
        match (number.parse(), count.parse()) {
            (Ok(number), Ok(count)) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err(wrong()),
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
        assert_eq!(shards[1].to_string(), "2/3");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/3/5", "a/b", "1.0/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
