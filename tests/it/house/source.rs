//! What a file of Rust imports and defines, read from its tokens. Code for tests alone is left out: it may look anywhere.

use std::collections::BTreeSet;

/// `use a::b as name`, or a path `a::b` in the code. A glob ends with `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub path: Vec<String>,
    pub name: String,
}

/// A file as far as its neighbours are concerned.
#[derive(Debug, Default)]
pub struct Source {
    /// What its `use` items bring into scope or export again.
    pub uses: Vec<Import>,
    /// Paths in its code outside `use` items.
    pub paths: Vec<Vec<String>>,
    /// The items defined in it.
    pub items: BTreeSet<String>,
    /// The modules in files of their own that exist in tests only.
    pub test_modules: BTreeSet<String>,
    /// Closures with a name: `let f = |x| ...`.
    pub named_closures: usize,
    /// Parameters that take a tuple apart: `(a, b): (A, B)`.
    pub tuple_parameters: usize,
}

impl Source {
    pub fn parse(text: &str) -> Self {
        let tokens = tokens(text);
        let mut source = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            at = source.item(&tokens, at);
        }
        source
    }

    /// Reads what begins at a token and returns where the next begins.
    fn item(&mut self, tokens: &[String], at: usize) -> usize {
        let token = tokens[at].as_str();
        if tokens[at..].iter().take(CFG_TEST.len()).eq(CFG_TEST) {
            let from = at + CFG_TEST.len();
            if tokens[from..].get(2).is_some_and(|end| end == ";") && tokens[from] == "mod" {
                self.test_modules.insert(tokens[from + 1].clone());
            }
            return end_of_item(tokens, from);
        }
        match token {
            "let" => self.named_closures += usize::from(is_named_closure(&tokens[at + 1..])),
            "fn" => self.tuple_parameters += tuple_parameters(&tokens[at + 1..]),
            _ => {}
        }
        if token == "use" {
            return use_tree(tokens, at + 1, &[], &mut self.uses);
        }
        if KEYWORDS.contains(&token) {
            self.items.extend(tokens.get(at + 1).cloned());
            return at + 2;
        }
        let path = path(tokens, at);
        let length = path.len();
        if length > 1 {
            self.paths.push(path);
        }
        at + (2 * length).max(2) - 1
    }
}

const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
const KEYWORDS: [&str; 7] = ["fn", "struct", "enum", "trait", "type", "const", "static"];

/// The end of an item: its semicolon or its closing brace. Braces of a `use` are within it.
fn end_of_item(tokens: &[String], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0);
    let is_use = tokens[from] == "use";
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        let ends = tokens[at] == ";" || tokens[at] == "}" && !is_use;
        at += 1;
        if depth == 0 && ends {
            break;
        }
    }
    at
}

/// Whether a `let` goes on as `name = |` or `name = move |`.
fn is_named_closure(tokens: &[String]) -> bool {
    let mut words = tokens.iter().map(String::as_str).filter(|token| !["mut", "move"].contains(token));
    words.next().is_some_and(|name| name.starts_with(char::is_alphabetic))
        && words.next() == Some("=")
        && words.next() == Some("|")
}

/// The parameters of a function that are patterns of tuples, from the tokens after `fn`.
fn tuple_parameters(tokens: &[String]) -> usize {
    let start = tokens.iter().position(|token| token == "(").unwrap_or(tokens.len());
    let (mut depth, mut found) = (0, 0);
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        let mut next = tokens[at..].iter().map(String::as_str).filter(|token| *token != "&");
        found += usize::from(next.by_ref().take(3).eq([")", ":", "("]));
    }
    found
}

/// The identifiers of a path that begins at a token.
fn path(tokens: &[String], at: usize) -> Vec<String> {
    let mut path = Vec::new();
    for pair in tokens[at..].chunks(2) {
        if !pair[0].starts_with(|c: char| c.is_alphabetic() || c == '_') {
            break;
        }
        path.push(pair[0].clone());
        if pair.get(1).is_none_or(|token| token != "::") {
            break;
        }
    }
    path
}

/// Reads a tree of imports up to its `;`, `,` or `}` and returns what follows.
fn use_tree(tokens: &[String], mut at: usize, prefix: &[String], found: &mut Vec<Import>) -> usize {
    let mut path = prefix.to_vec();
    let mut name = None;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = use_tree(tokens, at, &path, found);
                }
                // The leaves stand for the whole.
                path.clear();
            }
            "as" => {
                at += 1;
                name = Some(tokens[at].clone());
            }
            "self" if !path.is_empty() => {}
            "::" => {}
            token @ (";" | "," | "}") => {
                if let Some(last) = path.last() {
                    let name = name.unwrap_or_else(|| last.clone());
                    found.push(Import { path, name });
                }
                // The brace belongs to the tree around this one.
                return if token == "}" { at } else { at + 1 };
            }
            segment => path.push(segment.to_owned()),
        }
        at += 1;
    }
    at
}

/// Identifiers, `::` and single signs; comments, texts and characters are dropped.
fn tokens(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        let rest = &letters[at..];
        let length = match rest {
            ['/', '/', ..] => position(rest, &['\n']),
            ['/', '*', ..] => position(rest, &['*', '/']),
            ['"', ..] => text_length(rest),
            ['r', '#', '"', ..] => position(&rest[3..], &['"', '#']) + 3,
            ['r', '"', ..] => position(&rest[2..], &['"']) + 2,
            ['\'', '\\', ..] => position(&rest[3..], &['\'']) + 3,
            ['\'', _, '\'', ..] => 3,
            [':', ':', ..] => 2,
            [c, ..] if is_word(*c) => rest.iter().take_while(|c| is_word(**c)).count(),
            _ => 1,
        };
        let token: String = rest[..length].iter().collect();
        let is_code = rest[0].is_alphanumeric() || token == "::" || length == 1 && !rest[0].is_whitespace();
        if is_code && !token.contains('"') {
            tokens.push(token);
        }
        at += length;
    }
    tokens
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The end of the first occurrence of letters, or of everything.
fn position(letters: &[char], end: &[char]) -> usize {
    let found = letters.windows(end.len()).position(|window| window == end);
    found.map_or(letters.len(), |start| start + end.len())
}

/// The length of a text with its quotes.
fn text_length(letters: &[char]) -> usize {
    let mut at = 1;
    while at < letters.len() && letters[at] != '"' {
        at += if letters[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(letters.len())
}

#[test]
fn imports_and_items_of_a_file() {
    let source = Source::parse(
        r#"
        //! use super::comment;
        use super::{a::B, c::{self, D as E}};
        pub use f::*;
        #[cfg(test)]
        mod laws;
        fn g<'x>(h: &'x str) { crate::i::j("use super::text;", '"'); k::l() }
        #[cfg(test)]
        mod tests { use super::m; fn n() {} }
        struct O;
        "#,
    );
    let uses: Vec<_> = source.uses.iter().map(|i| format!("{} as {}", i.path.join("::"), i.name)).collect();
    assert_eq!(uses, ["super::a::B as B", "super::c as c", "super::c::D as E", "f::* as *"]);
    let paths: Vec<_> = source.paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["crate::i::j", "k::l"]);
    assert_eq!(source.items.iter().collect::<Vec<_>>(), ["O", "g"]);
    assert!(source.test_modules.contains("laws"));
}

#[test]
fn closures_and_tuples_of_a_file() {
    let source = Source::parse(
        r"
        fn f(a: (u8, u8), (b, c): (u8, u8), (d, e): &(u8, u8)) -> impl Fn(u8) -> u8 {
            let g = |x| x;
            let mut h = move |x: u8| x;
            let i = (1, 2);
            move |x| g(x)
        }
        ",
    );
    assert_eq!((source.named_closures, source.tuple_parameters), (2, 2));
}
