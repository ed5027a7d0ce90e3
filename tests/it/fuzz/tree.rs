//! Mutations of trees of TOML, and of JSON, which has the same values but for null.

use rand::RngExt;
use rand_pcg::Pcg64;
use toml::Value;

/// Numbers where arithmetic ends, and words that no name should have.
const NUMBERS: [f64; 12] =
    [0.0, -0.0, 1e-308, 1e-30, 1e30, 1e155, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -1.0];
const WHOLE: [i64; 8] = [0, -1, 1, 2, 1 << 20, u32::MAX as i64, i64::MAX, i64::MIN];
const WORDS: [&str; 8] = ["", "\u{1b}[2J", "=1+1", "..", "<b>|", "\u{202e}\u{0}", "\u{1f600}e\u{301}", "eq"];

/// Changes one place of a tree.
pub fn mutate(tree: &mut Value, stream: &mut Pcg64) {
    let places = count(tree);
    let mut place = stream.random_range(0..places);
    if let Some(found) = find(tree, &mut place) {
        change(found, stream);
    }
}

/// The tree of a text of JSON. A field that is null is as one that is not there.
pub fn json_of(text: &str) -> Value {
    Value::try_from(without_nulls(serde_json::from_str(text).unwrap())).unwrap()
}

fn without_nulls(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
            kept.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        serde_json::Value::Array(list) => list.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// The text of a tree with so many changes. Lists are long: a place is sought from level to level, so that one key is changed as
/// often as another. A number that is none is null.
pub fn mutated_json(tree: &Value, changes: u32, stream: &mut Pcg64) -> String {
    let mut tree = tree.clone();
    for _ in 0..changes {
        change(descend(&mut tree, stream), stream);
    }
    serde_json::to_string(&tree).unwrap()
}

/// A value on the way from the root to some leaf.
fn descend<'t>(value: &'t mut Value, stream: &mut Pcg64) -> &'t mut Value {
    let children = match value {
        Value::Table(fields) => fields.len(),
        Value::Array(list) => list.len(),
        _ => 0,
    };
    if children == 0 || stream.random_bool(0.2) {
        return value;
    }
    let place = stream.random_range(0..children);
    let child = match value {
        Value::Table(fields) => fields.iter_mut().map(|(_, child)| child).nth(place),
        Value::Array(list) => list.get_mut(place),
        _ => None,
    };
    descend(child.unwrap(), stream)
}

/// The values of a tree, itself among them.
fn count(tree: &Value) -> usize {
    let below: usize = match tree {
        Value::Table(fields) => fields.values().map(count).sum(),
        Value::Array(list) => list.iter().map(count).sum(),
        _ => 0,
    };
    1 + below
}

/// The value at a place, in the order of the text.
fn find<'t>(tree: &'t mut Value, place: &mut usize) -> Option<&'t mut Value> {
    if *place == 0 {
        return Some(tree);
    }
    *place -= 1;
    match tree {
        Value::Table(fields) => fields.iter_mut().find_map(|(_, value)| find(value, place)),
        Value::Array(list) => list.iter_mut().find_map(|value| find(value, place)),
        _ => None,
    }
}

fn change(value: &mut Value, stream: &mut Pcg64) {
    match value {
        Value::Table(fields) if stream.random_bool(0.8) && !fields.is_empty() => {
            let place = stream.random_range(0..fields.len());
            let Some(name) = fields.keys().nth(place).cloned() else { return };
            let Some(child) = fields.remove(&name) else { return };
            // A key goes away, or has another name.
            if stream.random_bool(0.5) {
                fields.insert(WORDS[stream.random_range(0..WORDS.len())].to_owned(), child);
            }
        }
        Value::Array(list) if stream.random_bool(0.8) => match list.pop() {
            Some(last) if stream.random_bool(0.5) => list.extend([last.clone(), last]),
            _ => {}
        },
        other => *other = any(stream),
    }
}

fn any(stream: &mut Pcg64) -> Value {
    match stream.random_range(0..6) {
        0 | 1 => Value::Float(NUMBERS[stream.random_range(0..NUMBERS.len())]),
        2 => Value::Integer(WHOLE[stream.random_range(0..WHOLE.len())]),
        3 => Value::String(WORDS[stream.random_range(0..WORDS.len())].to_owned()),
        4 => Value::Array(vec![Value::Integer(1); stream.random_range(0..3)]),
        _ => Value::Boolean(true),
    }
}
