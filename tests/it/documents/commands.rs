//! The commands that pages show are commands of the program.

use crate::support::cli::Project;
use crate::support::shipped::{root, shipped};

/// A command as a page shows it, in words.
struct Shown {
    page: String,
    words: Vec<String>,
}

/// The words of a line as a shell splits it, up to its comment or what another program takes over.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in line.chars() {
        match quote {
            Some(end) if letter == end => quote = None,
            None if letter == '\'' || letter == '"' => quote = Some(letter),
            None if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    let end = words.iter().position(|word| ["#", "|", "||", ">", ">>", "<", "<<", "&&"].contains(&word.as_str()));
    words.truncate(end.unwrap_or(words.len()));
    words
}

/// The commands of this program in the shell blocks of a text.
fn commands(page: &str, text: &str) -> Vec<Shown> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let lines: Vec<String> = blocks.map(|block| block.replace("\\\n", " ")).collect();
    let lines = lines.iter().flat_map(|block| block.lines()).map(words);
    let ours = lines.filter(|words| words.first().is_some_and(|first| first.ends_with("dpgp")));
    ours.map(|words| Shown { page: page.to_owned(), words: words[1..].to_vec() }).collect()
}

fn all_commands() -> Vec<Shown> {
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let names = pages.map(|path| format!("docs/{}", path.file_name().unwrap().to_str().unwrap()));
    let names = names.chain(["README.md".to_owned(), "SECURITY.md".to_owned()]);
    names.flat_map(|name| commands(&name, &shipped(&name))).collect()
}

/// With `--help` behind it a command is read in full, so that an option or a value that is none is an error, and does nothing.
#[test]
fn every_command_is_one() {
    let project = Project::empty();
    let all = all_commands();
    assert!(all.len() > 50, "{}", all.len());
    for Shown { page, words } in &all {
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push("--help");
        let run = project.dpgp(&arguments);
        assert_eq!(run.code, 0, "{page}: dpgp {}\n{}", words.join(" "), run.err);
    }
    let wrong = ["predict", "my.toml", "--grid", "auto", "--epsilon-budget", "2", "--help"];
    assert_ne!(project.dpgp(&wrong).code, 0, "the check can fail");
}
