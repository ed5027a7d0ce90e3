//! Texts of users in Markdown.

use dpgp_data::shown_line;

/// A text that makes no line, no link and no element of HTML of its own. Comparisons such as `a < b` stay as they are.
pub fn markdown_text(text: &str) -> String {
    let mut neutral = String::with_capacity(text.len());
    let text = shown_line(text).replace("](", "]\\(");
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let begins =
            characters.peek().is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(*next));
        if c == '<' && begins {
            neutral.push_str("&lt;");
            continue;
        }
        neutral.push(c);
    }
    neutral
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts() {
        for (text, shown) in [
            ("a < b <= c <5", "a < b <= c <5"),
            ("<img src=x> </p> <!-- <?", "&lt;img src=x> &lt;/p> &lt;!-- &lt;?"),
            ("![x](y) [1]", "![x]\\(y) [1]"),
            ("a\n# b\u{1b}[0m", "a\\n# b\\u{1b}[0m"),
        ] {
            assert_eq!(markdown_text(text), shown);
        }
    }
}
