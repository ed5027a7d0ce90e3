//! Guarantees below a table, referred to by number.

/// The distinct guarantees, in order of appearance.
#[derive(Debug, Default)]
pub struct GuaranteeNotes {
    pub texts: Vec<String>,
}

impl GuaranteeNotes {
    /// What stands in a row for its guarantee: its number in brackets, or that there is none.
    pub fn reference(&mut self, guarantee: &str) -> String {
        if guarantee.is_empty() || guarantee == "none" {
            return guarantee.to_owned();
        }
        let known = self.texts.iter().position(|known| known == guarantee);
        let number = known.unwrap_or_else(|| {
            self.texts.push(guarantee.to_owned());
            self.texts.len() - 1
        });
        format!("[{}]", number + 1)
    }
}
