//! Shapes as TypeScript: as types for the compiler, and as tables for checks at run time.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::shape::{Direction, Field, Shape};
use super::{Definition, Definitions};

/// The whole file. The page gets values of the types `roots`, and checks them.
pub(super) fn file(
    version: u32,
    roots: &[String],
    answers: &Definitions,
    requests: &Definitions,
) -> String {
    let mut file = format!(
        "{HEADER}\n/** The version of the format. */\nexport const VERSION = {version};\n\n{JSON}"
    );
    for (name, definition) in answers {
        push_type(&mut file, name, definition, Direction::ToPage);
    }
    for (name, definition) in requests.iter().filter(|(name, _)| !answers.contains_key(*name)) {
        push_type(&mut file, name, definition, Direction::FromPage);
    }
    file.push_str(
        "\n/** The types that the page gets, and checks. */\nexport interface Checked {\n",
    );
    roots.iter().for_each(|root| push(&mut file, format_args!("  readonly {root}: {root};\n")));
    file.push_str("}\n\n/** The shapes of these types, and of all types that they mention. */\n");
    file.push_str("export const SHAPES: Readonly<Record<string, Shape>> = {\n");
    for (name, definition) in answers {
        push(&mut file, format_args!("  {name}: {},\n", table(&definition.shape)));
    }
    file.push_str("};\n");
    file
}

fn push_type(file: &mut String, name: &str, definition: &Definition, direction: Direction) {
    file.push('\n');
    push_comment(file, "", &definition.description);
    match &definition.shape {
        Shape::Fields(fields) => {
            let fields = fields_text(fields, direction);
            push(file, format_args!("export interface {name} {{\n{fields}}}\n"));
        }
        shape => {
            let line = format!("export type {name} = {};\n", text(shape, direction));
            file.push_str(&line.replace(" = \n", " =\n"));
        }
    }
}

/// The fields of an interface, each on lines of its own with its description.
fn fields_text(fields: &[Field], direction: Direction) -> String {
    let mut lines = String::new();
    for field in fields {
        push_comment(&mut lines, "  ", &field.description);
        push(&mut lines, format_args!("  {};\n", field_text(field, direction)));
    }
    lines
}

fn field_text(field: &Field, direction: Direction) -> String {
    let shape = text(&field.shape, direction);
    match (field.is_optional, direction) {
        (false, _) => format!("readonly {}: {shape}", field.name),
        (true, Direction::ToPage) => format!("readonly {}?: {shape}", field.name),
        // The page may say that it leaves a field out.
        (true, Direction::FromPage) => format!("readonly {}?: {shape} | undefined", field.name),
    }
}

/// A shape as a type.
fn text(shape: &Shape, direction: Direction) -> String {
    let one = |shape: &Shape| text(shape, direction);
    let object = |fields: &[Field]| {
        let fields: Vec<_> = fields.iter().map(|field| field_text(field, direction)).collect();
        if fields.is_empty() { "object".to_owned() } else { format!("{{ {} }}", fields.join("; ")) }
    };
    match shape {
        Shape::Any => "Json".into(),
        Shape::Null => "null".into(),
        Shape::Boolean => "boolean".into(),
        Shape::String => "string".into(),
        Shape::Number | Shape::Integer | Shape::Unsigned => "number".into(),
        Shape::Words(words) => quoted(words).join(" | "),
        Shape::Named(name) => name.clone(),
        Shape::List(item) => format!("readonly {}[]", grouped(item, direction)),
        Shape::Tuple(items) => {
            format!("readonly [{}]", items.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Shape::Map(value) => format!("{{ readonly [key: string]: {} }}", one(value)),
        Shape::Fields(fields) => object(fields),
        Shape::OneField(fields) => {
            let fields =
                fields.iter().map(|field| format!("\n  | {}", object(std::slice::from_ref(field))));
            fields.collect()
        }
        Shape::Tagged(tag, variants) => {
            let variant = |(word, rest): &(String, Shape)| {
                let tag = format!("readonly {tag}: \"{word}\"");
                match rest {
                    Shape::Fields(fields) => {
                        let fields = fields.iter().map(|field| field_text(field, direction));
                        let fields: Vec<_> = std::iter::once(tag).chain(fields).collect();
                        format!("\n  | {{ {} }}", fields.join("; "))
                    }
                    rest => format!("\n  | ({{ {tag} }} & {})", one(rest)),
                }
            };
            variants.iter().map(variant).collect()
        }
        Shape::Either(shapes) => distinct(shapes.iter().map(one)).join(" | "),
        Shape::All(shapes) => {
            shapes.iter().map(|shape| grouped(shape, direction)).collect::<Vec<_>>().join(" & ")
        }
    }
}

/// A shape as a type that an operator can follow or precede.
fn grouped(shape: &Shape, direction: Direction) -> String {
    let text = text(shape, direction);
    match shape {
        Shape::Either(_)
        | Shape::All(_)
        | Shape::OneField(_)
        | Shape::Tagged(..)
        | Shape::Words(_)
        | Shape::List(_)
        | Shape::Tuple(_) => format!("({text})"),
        _ => text,
    }
}

/// A shape as a table: see `web/src/format/check.ts`.
fn table(shape: &Shape) -> String {
    let all = |shapes: &[Shape]| shapes.iter().map(table).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Any => "\"any\"".into(),
        Shape::Null => "\"null\"".into(),
        Shape::Boolean => "\"boolean\"".into(),
        Shape::String => "\"string\"".into(),
        Shape::Number => "\"number\"".into(),
        Shape::Integer => "\"integer\"".into(),
        Shape::Unsigned => "\"unsigned\"".into(),
        Shape::Words(words) => format!("[\"word\", {}]", quoted(words).join(", ")),
        Shape::Named(name) => format!("\"{name}\""),
        Shape::List(item) => format!("[\"list\", {}]", table(item)),
        Shape::Tuple(items) => format!("[\"tuple\", {}]", all(items)),
        Shape::Map(value) => format!("[\"map\", {}]", table(value)),
        Shape::Fields(fields) => fields_table(fields),
        Shape::OneField(fields) => format!("[\"one\", {}]", fields_table(fields)),
        Shape::Tagged(tag, variants) => {
            let variants =
                variants.iter().map(|(word, rest)| format!("\"{word}\": {}", table(rest)));
            format!("[\"tag\", \"{tag}\", {{ {} }}]", variants.collect::<Vec<_>>().join(", "))
        }
        Shape::Either(shapes) => format!("[\"either\", {}]", all(shapes)),
        Shape::All(shapes) => format!("[\"all\", {}]", all(shapes)),
    }
}

/// Optional fields have a question mark behind their names.
fn fields_table(fields: &[Field]) -> String {
    let field = |field: &Field| {
        let mark = if field.is_optional { "?" } else { "" };
        format!("\"{}{mark}\": {}", field.name, table(&field.shape))
    };
    match fields.iter().map(field).collect::<Vec<_>>() {
        fields if fields.is_empty() => "{}".into(),
        fields => format!("{{ {} }}", fields.join(", ")),
    }
}

fn quoted(words: &[String]) -> Vec<String> {
    words.iter().map(|word| format!("\"{word}\"")).collect()
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}

/// A description as a comment, without the links of rustdoc.
fn push_comment(file: &mut String, indent: &str, description: &str) {
    let description = description.replace("[`", "`").replace("`]", "`");
    let lines: Vec<_> = description.lines().collect();
    match lines.as_slice() {
        [] => {}
        [line] => push(file, format_args!("{indent}/** {line} */\n")),
        lines => {
            push(file, format_args!("{indent}/**\n"));
            for line in lines {
                push(file, format_args!("{}\n", format!("{indent} * {line}").trim_end()));
            }
            push(file, format_args!("{indent} */\n"));
        }
    }
}

fn push(file: &mut String, text: std::fmt::Arguments<'_>) {
    file.write_fmt(text).expect("a text takes everything");
}

const HEADER: &str = "\
// Generated from the types of crates/analyst and crates/viewer. Do not edit: run
// DILIGENCE_BLESS=1 cargo test -p diligence-viewer protocol

import type { Shape } from \"../format/check\";
";

const JSON: &str = "\
/** Any JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
";
