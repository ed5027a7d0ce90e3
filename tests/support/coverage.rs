//! The error messages that the source has, so that tests can prove that they provoke each of them.

use super::cli::Run;
use super::shipped::root;

/// Enums that are words within messages, without a message of their own.
const WORDS: [&str; 2] = ["FileAction", "FileLocation"];

/// A variant that says something, and the longest part of its message that is the same in every case.
struct Message {
    name: String,
    text: String,
}

/// Fails unless each case shows the messages that it names, and each message in `folder` has a case or a reason in
/// `unreachable` why no command shows it.
pub fn assert_covered(folder: &str, cases: &[(&str, Run)], unreachable: &[(&str, &str)]) {
    let messages = messages(folder);
    let cases = cases.iter().flat_map(|(names, run)| names.split(' ').map(move |name| (name, run)));
    for (name, run) in cases.clone() {
        let message = messages.iter().find(|message| message.name == name);
        let message = message.unwrap_or_else(|| panic!("{folder} has no error {name}"));
        assert!(run.err.contains(&message.text), "{name} says {:?}, but found {}", message.text, run.err);
    }
    for Message { name, .. } in &messages {
        let provoked = cases.clone().any(|(case, _)| case == name);
        let excused = unreachable.iter().any(|(variant, _)| variant == name);
        assert!(provoked != excused, "{name} needs either a case that provokes it or a reason why none can");
    }
    let known = |name: &str| messages.iter().any(|message| message.name == name);
    assert!(unreachable.iter().all(|(name, _)| known(name)), "an excuse for what is not there");
}

/// Every variant and struct with an `#[error]` in the files of a folder, and the variants of [`WORDS`].
fn messages(folder: &str) -> Vec<Message> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let source = std::fs::read_to_string(path).unwrap();
        let (mut owner, mut message) = ("", None);
        for (at, line) in source.lines().enumerate() {
            if let Some(item) = ["pub enum ", "enum ", "pub struct "].iter().find_map(|p| line.strip_prefix(p)) {
                owner = word(item);
                if let (true, Some(text)) = (line.contains("struct "), message.take()) {
                    found.push(Message { name: owner.to_owned(), text });
                }
            } else if line.trim_start().starts_with("#[error(") {
                message = Some(constant(&source.lines().skip(at).collect::<Vec<_>>().join("\n")));
            } else if line == "}" {
                owner = "";
            }
            let variant = line.strip_prefix("    ").filter(|rest| rest.starts_with(char::is_uppercase));
            let Some(variant) = variant.filter(|_| !owner.is_empty()) else { continue };
            let text = message.take().or_else(|| WORDS.contains(&owner).then(String::new));
            found.extend(text.map(|text| Message { name: format!("{owner}::{}", word(variant)), text }));
        }
    }
    assert!(!found.is_empty(), "{folder} has no errors");
    found
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// The longest part without placeholders of the first string literal.
fn constant(source: &str) -> String {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    let mut letters = source[source.find('"').unwrap() + 1..].chars().peekable();
    loop {
        match letters.next().unwrap() {
            '"' => break,
            '\\' => match letters.next().unwrap() {
                'n' => parts.push(String::new()),
                // The literal goes on in the next line.
                '\n' => while letters.next_if(|letter| letter.is_whitespace()).is_some() {},
                letter => parts.last_mut().unwrap().push(letter),
            },
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                parts.push(String::new());
            }
            letter if depth == 0 => parts.last_mut().unwrap().push(letter),
            _ => {}
        }
    }
    parts.into_iter().max_by_key(String::len).unwrap()
}
