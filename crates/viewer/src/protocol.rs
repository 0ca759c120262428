//! Generates `web/src/generated/protocol.ts`: the TypeScript types of all messages between the page
//! and the program, and the JSON schemas with which the page validates messages from the program.
//!
//! The Rust types are the only definition of the format. The generated file is committed, so that
//! the page can be built without Rust, and a test fails if the file is out of date.

use std::path::Path;

use analyst::frame::{ColumnHead, VERSION};
use analyst::selection::Selection;
use analyst::value_type::TypeTable;
use analyst::{FrameHead, PageQuestion};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};
use testkit::golden;

use crate::bus::{BusAnswer, BusRequest, PageReply};
use crate::export::About;
use crate::watch::WatchEvent;

#[test]
fn types_of_the_page_match_the_program() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/generated/protocol.ts");
    golden::check(file, &generated());
}

/// The direction in which a value travels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaDirection {
    /// The program writes the value. An absent value is either written as `null` or left out; a
    /// field never does both.
    ToPage,
    /// The page writes the value. It can leave out fields that have a default.
    FromPage,
}

fn generated() -> String {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(simplify));
    let to_page = settings.clone().for_serialize();
    let mut answers = to_page.with_transform(RecursiveTransform(exclude_absent)).into_generator();
    let roots = [
        root::<FrameHead<'_>>(&mut answers),
        root::<ColumnHead>(&mut answers),
        root::<About<'_>>(&mut answers),
        root::<PageReply<BusAnswer>>(&mut answers),
        root::<PageReply<WatchEvent>>(&mut answers),
    ];
    let answers = answers.take_definitions(true);
    let mut requests = settings.for_deserialize().into_generator();
    root::<PageQuestion>(&mut requests);
    root::<Selection>(&mut requests);
    root::<BusRequest>(&mut requests);
    let requests = requests.take_definitions(true);

    let mut file = format!("{HEADER}\nexport const VERSION = {VERSION};\n\n{JSON}");
    for (name, schema) in &answers {
        file += &declaration(name, schema, SchemaDirection::ToPage);
    }
    for (name, schema) in &requests {
        match answers.get(name) {
            None => file += &declaration(name, schema, SchemaDirection::FromPage),
            Some(answer) => {
                assert_eq!(schema, answer, "{name} has different schemas in requests and answers")
            }
        }
    }
    file +=
        "\n/** The types that the page receives and validates. */\nexport interface Checked {\n";
    roots.iter().for_each(|root| file += &format!("  readonly {root}: {root};\n"));
    file += "}\n\n/** The schemas of these types and of all types that they refer to. */\n";
    file += "export const SCHEMAS: Readonly<Record<string, Schema>> = {\n";
    for (name, schema) in &answers {
        let mut schema = Schema::try_from(schema.clone()).expect("a definition is a schema");
        RecursiveTransform(|schema: &mut Schema| drop(schema.remove("description")))
            .transform(&mut schema);
        file += &format!("  {name}: {},\n", schema.as_value());
    }
    file + "};\n"
}

/// Adds a type and all types that it refers to. Returns its name.
fn root<T: JsonSchema>(generator: &mut SchemaGenerator) -> String {
    generator.subschema_for::<T>();
    T::schema_name().into_owned()
}

/// Removes keywords that the page does not use, and simplifies the shape of enumerations and
/// flattened fields.
fn simplify(schema: &mut Schema) {
    if schema.as_bool() == Some(true) {
        schema.ensure_object();
    }
    for key in ["default", "format", "maximum", "minItems", "maxItems"] {
        schema.remove(key);
    }
    let alternatives = schema.get("oneOf").and_then(Value::as_array);
    let words = alternatives.and_then(|all| all.iter().map(|one| one.get("const")).collect());
    let words: Option<Vec<&Value>> = words;
    if let Some(words) = words.map(|words| json!(words)) {
        schema.remove("oneOf");
        schema.insert("enum".into(), words);
    }
    merge_flattened(schema);
}

/// Merges a flattened enumeration into its object: an object with fields and with at most one of
/// the enumeration's fields becomes one object in which the latter are optional.
fn merge_flattened(schema: &mut Schema) {
    if schema.get("properties").is_none() {
        return;
    }
    let optional = schema.get("anyOf").and_then(|shapes| match shapes.as_array()?.as_slice() {
        [some, none] if *none == json!({}) => some.get("oneOf"),
        _ => None,
    });
    let Some(flattened) = optional.or_else(|| schema.get("oneOf")).cloned() else { return };
    schema.remove("anyOf");
    schema.remove("oneOf");
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut).expect("fields");
    for variant in flattened.as_array().into_iter().flatten() {
        let own = variant["properties"].as_object().expect("a variant has one field").clone();
        fields.extend(own);
    }
}

/// Removes `null` from the types of optional fields: the program leaves such a field out instead.
fn exclude_absent(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|all| all.contains(&name.into()));
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, field) in fields.into_iter().flatten().filter(|(name, _)| !is_required(name)) {
        for key in ["type", "anyOf"] {
            let Some(shapes) = field.get_mut(key).and_then(Value::as_array_mut) else { continue };
            shapes.retain(|shape| *shape != json!("null") && *shape != json!({"type": "null"}));
            if let ([only], Some(object)) = (&*shapes.clone(), field.as_object_mut()) {
                object.remove(key);
                match only {
                    Value::Object(only) => object.extend(only.clone()),
                    only => drop(object.insert(key.into(), only.clone())),
                }
            }
        }
    }
}

/// The TypeScript declaration of a type, with its description as a comment.
fn declaration(name: &str, schema: &Value, direction: SchemaDirection) -> String {
    let comment = comment("", schema);
    let has_fields = ["oneOf", "anyOf", "$ref"].iter().all(|key| schema.get(key).is_none());
    match schema.get("properties").and_then(Value::as_object) {
        Some(fields) if has_fields => {
            let field = |(name, field): (&String, _)| {
                let line = field_text(name, field, schema, direction);
                format!("{}  {line};\n", self::comment("  ", field))
            };
            let fields: String = fields.iter().map(field).collect();
            format!("\n{comment}export interface {name} {{\n{fields}}}\n")
        }
        _ => {
            let line = format!("\n{comment}export type {name} = {};\n", text(schema, direction));
            line.replace(" = \n", " =\n")
        }
    }
}

fn field_text(name: &str, field: &Value, object: &Value, direction: SchemaDirection) -> String {
    let required = object["required"].as_array();
    let is_required = required.is_some_and(|all| all.contains(&name.into()));
    let text = text(field, direction);
    match (is_required, direction) {
        (true, _) => format!("readonly {name}: {text}"),
        (false, SchemaDirection::ToPage) => format!("readonly {name}?: {text}"),
        // `undefined` is allowed, so that the page can state explicitly that it leaves a field out.
        (false, SchemaDirection::FromPage) => format!("readonly {name}?: {text} | undefined"),
    }
}

/// Writes a schema as a TypeScript type.
fn text(schema: &Value, direction: SchemaDirection) -> String {
    let all = |key: &str| {
        distinct(schema[key].as_array().into_iter().flatten().map(|one| text(one, direction)))
    };
    let mut parts = Vec::new();
    if let Some(name) = schema["$ref"].as_str() {
        parts.push(name.trim_start_matches("#/$defs/").to_owned());
    }
    match (&schema["const"], &schema["enum"], &schema["type"]) {
        (Value::Null, Value::Null, Value::Null) => {}
        (Value::Null, Value::Null, Value::Array(types)) => {
            let types = types.iter().map(|one| of_type(one, schema, direction));
            parts.push(distinct(types).join(" | "));
        }
        (Value::Null, Value::Null, one) => parts.push(of_type(one, schema, direction)),
        (Value::Null, words, _) => {
            let words = words.as_array().into_iter().flatten().map(Value::to_string);
            parts.push(words.collect::<Vec<_>>().join(" | "));
        }
        (word, ..) => parts.push(word.to_string()),
    }
    if schema.get("anyOf").is_some() {
        parts.push(all("anyOf").join(" | "));
    }
    if schema.get("oneOf").is_some() {
        parts.push(format!("\n  | {}", all("oneOf").join("\n  | ")));
    }
    match parts.as_slice() {
        [] => "Json".into(),
        [only] => only.clone(),
        parts => parts.iter().map(|part| grouped(part)).collect::<Vec<_>>().join(" & "),
    }
}

/// The TypeScript type for a value of the keyword `type`.
fn of_type(name: &Value, schema: &Value, direction: SchemaDirection) -> String {
    let one = |schema: &Value| text(schema, direction);
    match name.as_str() {
        Some("integer" | "number") => "number".into(),
        Some("array") => match schema["prefixItems"].as_array() {
            Some(items) => {
                format!("readonly [{}]", items.iter().map(one).collect::<Vec<_>>().join(", "))
            }
            None => format!("readonly {}[]", grouped(&one(&schema["items"]))),
        },
        Some("object") => match (&schema["properties"], &schema["additionalProperties"]) {
            (Value::Object(fields), _) => {
                let field =
                    |(name, field): (&String, _)| field_text(name, field, schema, direction);
                format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join("; "))
            }
            (_, Value::Object(_)) => {
                format!("{{ readonly [key: string]: {} }}", one(&schema["additionalProperties"]))
            }
            _ => "object".into(),
        },
        Some(basic) => basic.into(),
        None => panic!("the type {name} has no TypeScript equivalent"),
    }
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct = Vec::new();
    texts.for_each(|text| {
        if !distinct.contains(&text) {
            distinct.push(text)
        }
    });
    distinct
}

/// Puts a compound type into parentheses, so that an operator can follow or precede it.
fn grouped(text: &str) -> String {
    let is_compound = text.starts_with("readonly ") || text.contains(" | ");
    if is_compound { format!("({text})") } else { text.to_owned() }
}

/// The description of a schema as a comment, without rustdoc links.
fn comment(indent: &str, schema: &Value) -> String {
    let Some(description) = schema["description"].as_str() else { return String::new() };
    let description = description.replace("[`", "`").replace("`]", "`");
    if !description.contains('\n') {
        return format!("{indent}/** {description} */\n");
    }
    let line = |line: &str| format!("{}\n", format!("{indent} * {line}").trim_end());
    let lines: String = description.lines().map(line).collect();
    format!("{indent}/**\n{lines}{indent} */\n")
}

const HEADER: &str = "\
// Generated from the types of crates/analyst and crates/viewer. Do not edit: run
// DILIGENCE_BLESS=1 cargo test -p diligence-viewer protocol

import type { Schema } from \"../format/check\";

/** The version of the format of frames. */";

const JSON: &str = "\
/** Any value that JSON can represent. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
";

/// Generates the type tables for the unit tests of the page, because the page has no parser for
/// signatures. Each type is one line.
#[test]
fn type_tables_for_the_tests_of_the_page_are_current() {
    let mut types = TypeTable::default();
    for signature in SIGNATURES {
        types.add(signature);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/generated/types.json");
    let types = serde_json::to_value(&types).expect("all keys are texts");
    let types = types.as_object().expect("a map");
    let lines = types.iter().map(|(name, one)| format!("  \"{name}\": {one}")).collect::<Vec<_>>();
    golden::check(file, &format!("{{\n{}\n}}\n", lines.join(",\n")));
}

const SIGNATURES: [&str; 18] = [
    "ybnqiuxtdsogh",
    "v",
    "aay",
    "aas",
    "a{sv}",
    "a{ss}",
    "a{us}",
    "a{oa{sa{sv}}}",
    "a{ov}",
    "a{s(ay)}",
    "(s)",
    "(si)",
    "(ii)",
    "(i(sb))",
    "(dd)",
    "a(ov)",
    "(sasb)",
    "(ia(sd))",
];
