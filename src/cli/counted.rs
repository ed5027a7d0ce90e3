//! Numbers of things in words.

/// A number with what it counts, in the singular or the plural.
pub(super) fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let said = [0, 1, 2].map(|number| counted(number, "claim fails", "claims fail"));
        assert_eq!(said, ["0 claims fail", "1 claim fails", "2 claims fail"]);
    }
}
