//! The reference page of a TOML format, made from its JSON Schema: each key path with its type, range, default and meaning.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

const ORIGIN: &str = "This page is generated from the JSON Schema. `dpgp schema` prints the schema, and \
    `dpgp schema --markdown` prints this page.";
const HEADINGS: &str = "\n| key | type | default | meaning |\n|---|---|---|---|\n";

/// Writes a Markdown page with every key path of the language that a JSON Schema describes.
///
/// A type used at several paths is described at the first; the others link to it.
///
/// ```
/// let schema = serde_json::json!({
///     "title": "recipe",
///     "properties": { "minutes": { "type": "integer", "minimum": 1, "default": 30, "description": "In the oven." } },
/// });
/// let page = dpgp_report::schema_markdown(&schema);
/// assert!(page.contains("| `minutes` | integer, at least 1 | `30` | In the oven. |"));
/// ```
pub fn schema_markdown(schema: &Value) -> String {
    let title = text(schema, "title").unwrap_or("Reference");
    let mut page = SchemaReferencePage { schema, text: format!("# {title}\n\n{ORIGIN}\n"), told: BTreeMap::new() };
    page.write_section("", schema);
    page.text
}

/// The page so far.
struct SchemaReferencePage<'a> {
    schema: &'a Value,
    text: String,
    /// The path that describes each named type.
    told: BTreeMap<&'a str, String>,
}

/// A type described after the table that first names it.
struct PendingType<'a> {
    path: String,
    schema: &'a Value,
}

/// The keys of one section.
#[derive(Default)]
struct SchemaKeyTable<'a> {
    rows: String,
    pending: Vec<PendingType<'a>>,
}

impl<'a> SchemaReferencePage<'a> {
    fn write_section(&mut self, path: &str, schema: &'a Value) {
        if !path.is_empty() {
            let level = if path.contains('.') { "###" } else { "##" };
            let _ = write!(self.text, "\n{level} `{path}`\n");
        }
        if let Some(description) = text(schema, "description") {
            let _ = write!(self.text, "\n{}\n", single_line_markdown_cell(description));
        }
        let mut table = SchemaKeyTable::default();
        self.add_keys(&mut table, path, schema);
        if !table.rows.is_empty() {
            self.text += HEADINGS;
            self.text += &table.rows;
        }
        for PendingType { path, schema } in table.pending {
            self.write_section(&path, schema);
        }
    }

    /// A row for each key and each variant of a type.
    fn add_keys(&mut self, table: &mut SchemaKeyTable<'a>, path: &str, schema: &'a Value) {
        for (key, value) in fields(schema, "properties") {
            self.add_key(table, &join_path(path, key), value, required(schema, key));
        }
        for variant in list(schema, "oneOf") {
            if let Some(word) = variant.get("const") {
                let meaning = single_line_markdown_cell(text(variant, "description").unwrap_or_default());
                let _ = writeln!(table.rows, "| `{path} = {word}` |  |  | {meaning} |");
            }
            // The only key of a variant carries what the variant says.
            for (key, value) in fields(variant, "properties") {
                let path = join_path(path, key);
                let meaning = text(variant, "description").or(text(value, "description"));
                self.add_row(table, &path, value, "", meaning);
                self.add_keys(table, &path, value);
            }
        }
    }

    fn add_key(&mut self, table: &mut SchemaKeyTable<'a>, path: &str, value: &'a Value, required: bool) {
        let default = value.get("default").map(|default| format!("`{default}`"));
        let default = default.unwrap_or_else(|| if required { "required".to_owned() } else { String::new() });
        let named = self.referenced_type(value).or_else(|| self.referenced_type(value.get("items")?));
        let meaning = text(value, "description").or_else(|| text(named?.1, "description"));
        self.add_row(table, path, value, &default, meaning);
        self.add_keys(table, path, value);
    }

    fn add_row(
        &mut self,
        table: &mut SchemaKeyTable<'a>,
        path: &str,
        value: &'a Value,
        default: &str,
        meaning: Option<&str>,
    ) {
        let kind = self.describe_type(table, path, value);
        let meaning = single_line_markdown_cell(meaning.unwrap_or_default());
        let _ = writeln!(table.rows, "| `{path}` | {kind} | {default} | {meaning} |");
    }

    /// The type of a value in words, with its range; a link where the type has keys or variants of its own.
    fn describe_type(&mut self, table: &mut SchemaKeyTable<'a>, path: &str, value: &'a Value) -> String {
        if let Some((name, definition)) = self.referenced_type(value) {
            if definition.get("properties").is_none() && definition.get("oneOf").is_none() {
                return self.describe_type(table, path, definition);
            }
            let told = self.told.entry(name).or_insert_with(|| {
                table.pending.push(PendingType { path: path.to_owned(), schema: definition });
                path.to_owned()
            });
            let word = if definition.get("oneOf").is_some() { "choice" } else { "table" };
            let words = if told == path { word.to_owned() } else { format!("{word} as `{told}`") };
            return format!("[{words}](#{})", anchor(told));
        }
        if let Some(items) = value.get("items") {
            let items = self.describe_type(table, path, items);
            return format!("{}{}{items}", describe_list(value), if items.is_empty() { "" } else { " of " });
        }
        let inner = value.get("additionalProperties").filter(|inner| inner.is_object());
        if let Some(inner) = inner {
            let inner = self.describe_type(table, &join_path(path, "NAME"), inner);
            return format!("table (name = {inner})");
        }
        let word = match text(value, "type") {
            Some("string") => "text",
            Some("boolean") => "`true` or `false`",
            Some("object") => "table",
            Some(other) => other,
            None => "",
        };
        format!("{word}{}", describe_schema_limits(value))
    }

    /// The name and schema of the type that a value refers to.
    fn referenced_type(&self, value: &'a Value) -> Option<(&'a str, &'a Value)> {
        let name = text(value, "$ref")?.strip_prefix("#/$defs/")?;
        Some((name, self.schema.get("$defs")?.get(name)?))
    }
}

/// The limits of a value, in words.
fn describe_schema_limits(value: &Value) -> String {
    let limits = [
        ("minimum", "at least"),
        ("exclusiveMinimum", "above"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "below"),
        ("maxLength", "maximum length"),
    ];
    let said = limits.iter().filter_map(|(key, words)| Some(format!(", {words} {}", value.get(key)?)));
    said.collect()
}

/// A list with its length, if the schema gives one.
fn describe_list(value: &Value) -> String {
    match (value.get("minItems"), value.get("maxItems")) {
        (Some(least), Some(most)) if least == most => format!("list (length {least})"),
        (Some(least), _) => format!("list (length {least} or more)"),
        _ => "list".to_owned(),
    }
}

fn join_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The anchor that Markdown gives to a heading.
fn anchor(heading: &str) -> String {
    heading.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect::<String>().to_lowercase()
}

/// A text for a cell of a table.
fn single_line_markdown_cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn text<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    schema.get(key)?.as_str()
}

fn list<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn fields<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn required(schema: &Value, key: &str) -> bool {
    list(schema, "required").any(|name| name == key)
}
