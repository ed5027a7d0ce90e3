//! Findings of a check, in formats for continuous integration.

use std::fmt::Write;
use std::path::PathBuf;

/// The findings about one experiment; empty if it passes.
pub struct CheckFindings {
    /// The experiment.
    pub name: String,
    /// The committed file that the findings are about.
    pub file: PathBuf,
    /// The differences from the committed results.
    pub findings: Vec<String>,
}

impl CheckFindings {
    /// Returns whether there are no findings.
    pub fn passes(&self) -> bool {
        self.findings.is_empty()
    }

    /// Writes the findings as readable text.
    pub fn text(&self) -> String {
        let verdict = if self.passes() { "passes" } else { "FAILS" };
        let lines: String = self.findings.iter().map(|finding| format!("  {finding}\n")).collect();
        format!("{}: {verdict}\n{lines}", self.name)
    }

    /// Writes a workflow command for each finding. Encodes line ends in messages, and separators in properties. Source: GitHub,
    /// Workflow commands.
    pub fn github_annotations(&self) -> String {
        let (file, title) =
            (escape_annotation_property(&self.file.to_string_lossy()), escape_annotation_property(&self.name));
        let said = self.findings.iter();
        said.map(|finding| {
            format!("::error file={file},line=1,title={title}::{}\n", escape_annotation_message(finding))
        })
        .collect()
    }
}

/// Writes a line for each experiment, as Markdown.
pub fn check_summary_markdown(all: &[CheckFindings]) -> String {
    let failed = all.iter().filter(|one| !one.passes()).count();
    let mut text =
        format!("### dpgp check: {failed} of {} failed\n\n| experiment | | findings |\n|---|---|--:|\n", all.len());
    for one in all {
        let verdict = if one.passes() { "passes" } else { "**fails**" };
        let _ =
            writeln!(text, "| `{}` | {verdict} | {} |", one.name.replace(['|', '`', '\n'], " "), one.findings.len());
    }
    text + "\n"
}

/// Writes one JUnit suite, with a case for each experiment.
pub fn check_junit_xml(all: &[CheckFindings]) -> String {
    let failed = all.iter().filter(|one| !one.passes()).count();
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let counts = format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\"", all.len());
    let _ = writeln!(text, "<testsuites {counts}>\n<testsuite name=\"dpgp check\" {counts}>");
    for one in all {
        let name = escape_xml(&one.name);
        if one.passes() {
            let _ = writeln!(text, "<testcase classname=\"dpgp.check\" name=\"{name}\"/>");
            continue;
        }
        let all: Vec<String> = one.findings.iter().map(|finding| escape_xml(finding)).collect();
        let first = all.first().map_or("", String::as_str);
        let _ = writeln!(
            text,
            "<testcase classname=\"dpgp.check\" name=\"{name}\"><failure message=\"{first}\">{}</failure></testcase>",
            all.join("\n")
        );
    }
    text + "</testsuite>\n</testsuites>\n"
}

fn escape_annotation_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_annotation_property(text: &str) -> String {
    escape_annotation_message(text).replace(':', "%3A").replace(',', "%2C")
}

/// Escapes a text for an element or an attribute. XML cannot represent most control characters, so they are replaced.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> [CheckFindings; 2] {
        let file = PathBuf::from("results/a,b/table.csv");
        let bad = vec!["100 % <of>\n\"it\" & \u{1b}".to_owned(), "more".to_owned()];
        [
            CheckFindings { name: "a,b".to_owned(), file: file.clone(), findings: bad },
            CheckFindings { name: "good".to_owned(), file, findings: Vec::new() },
        ]
    }

    #[test]
    fn annotations_stay_on_one_line() {
        let [bad, good] = findings();
        let text = bad.github_annotations();
        let first = "::error file=results/a%2Cb/table.csv,line=1,title=a%2Cb::100 %25 <of>%0A\"it\" & \u{1b}";
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [first, "::error file=results/a%2Cb/table.csv,line=1,title=a%2Cb::more"]
        );
        assert_eq!(good.github_annotations(), "");
    }

    #[test]
    fn junit_is_xml() {
        let text = check_junit_xml(&findings());
        assert!(text.contains("<testsuite name=\"dpgp check\" tests=\"2\" failures=\"1\""), "{text}");
        assert!(text.contains("100 % &lt;of&gt;&#10;&quot;it&quot; &amp; \u{fffd}\nmore</failure>"), "{text}");
        assert!(text.contains("name=\"good\"/>"), "{text}");
    }

    #[test]
    fn the_summary_has_a_line_for_each() {
        let text = check_summary_markdown(&findings());
        assert!(text.contains("1 of 2 failed") && text.contains("| `a,b` | **fails** | 2 |"), "{text}");
    }
}
