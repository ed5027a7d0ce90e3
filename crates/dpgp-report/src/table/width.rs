//! How wide a text may be, and prose in so many columns.

use terminal_size::terminal_size_of;
use unicode_width::UnicodeWidthStr;

/// How far what goes on in the next line stands to the right.
pub(super) const INDENT: usize = 2;

/// The columns that there are: `COLUMNS` where it is set, else those of the terminal; none where there is no end.
pub(super) fn text_width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    said.filter(|width| *width > 0).or_else(terminal_width)
}

/// The columns of the terminal; none where there is no terminal, or one that does not know its width, which says 0.
fn terminal_width() -> Option<usize> {
    terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

/// Prose with lines no wider than there are columns, broken between words. What goes on in the next line is indented; a word that is
/// wider than a line is left whole.
pub fn folded(prose: &str) -> String {
    match text_width() {
        Some(width) => prose.split_inclusive('\n').map(|line| folded_line(line, width)).collect(),
        None => prose.to_owned(),
    }
}

fn folded_line(line: &str, width: usize) -> String {
    let mut text = Words { indent: INDENT + (line.len() - line.trim_start().len()), ..Words::default() };
    line.trim_end_matches('\n').split(' ').for_each(|word| text.push(word, width));
    if line.ends_with('\n') {
        text.text.push('\n');
    }
    text.text
}

/// Words one after the other, and the column that the last one ends at.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub text: String,
    pub at: usize,
    pub indent: usize,
    begun: bool,
}

impl Words {
    /// After a text that is there already.
    pub fn after(text: String, indent: usize) -> Self {
        Self { at: text.width(), begun: !text.is_empty(), text, indent }
    }

    /// Adds a word, in the next line where it does not fit.
    pub fn push(&mut self, word: &str, width: usize) {
        if self.at > self.indent && self.at + 1 + word.width() > width {
            self.text.push_str(&format!("\n{}", " ".repeat(self.indent)));
            self.at = self.indent;
        } else if self.begun {
            self.text.push(' ');
            self.at += 1;
        }
        self.begun = true;
        self.text.push_str(word);
        self.at += word.width();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words() {
        let lines = ["results:  0 of 12 values agree\n", "  a = one, two, three\n", "", "averylongword it\n"];
        let folded: String = lines.iter().map(|line| folded_line(line, 16)).collect();
        let expected = "results:  0 of\n  12 values\n  agree\n  a = one, two,\n    three\naverylongword it\n";
        assert_eq!(folded, expected);
        assert_eq!(folded_line("averylongword it", 10), "averylongword\n  it");
    }
}
