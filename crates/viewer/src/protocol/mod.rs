//! Generates `web/src/generated/protocol.ts`: the TypeScript types of everything that the page sends and
//! gets, and tables by which the page checks what it gets.
//!
//! The Rust types are the only definition of the format. The file is committed, so that building the page
//! needs no Rust, and a test fails when it is stale.

mod shape;
mod typescript;

use std::collections::BTreeMap;
use std::path::Path;

use analyst::frame::{ColumnHead, VERSION};
use analyst::selection::Selection;
use analyst::value_type::TypeTable;
use analyst::{FrameHead, Question};
use diligence_testkit::golden;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::bus::{BusAnswer, BusRequest, Reply};
use crate::export::About;
use crate::protocol::shape::{Direction, Shape};
use crate::watch::WatchEvent;

#[test]
fn the_types_of_the_page_are_those_of_the_program() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/generated/protocol.ts");
    golden::check(file, &generated());
}

fn generated() -> String {
    let mut answers = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let roots = [
        root::<FrameHead<'_>>(&mut answers),
        root::<ColumnHead>(&mut answers),
        root::<About<'_>>(&mut answers),
        root::<Reply<BusAnswer>>(&mut answers),
        root::<Reply<WatchEvent>>(&mut answers),
    ];
    let answers = definitions(answers, Direction::ToPage);
    let mut requests = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    root::<Question>(&mut requests);
    root::<Selection>(&mut requests);
    root::<BusRequest>(&mut requests);
    let requests = definitions(requests, Direction::FromPage);
    for name in requests.keys().filter(|name| answers.contains_key(*name)) {
        assert_eq!(requests[name], answers[name], "{name} has two meanings");
    }
    typescript::file(VERSION, &roots, &answers, &requests)
}

/// Adds a type with all that it mentions; returns its name.
fn root<T: JsonSchema>(generator: &mut SchemaGenerator) -> String {
    generator.subschema_for::<T>();
    T::schema_name().into_owned()
}

fn definitions(mut generator: SchemaGenerator, direction: Direction) -> Definitions {
    let definitions = generator.take_definitions(true);
    let definition = |(name, schema): (String, Value)| {
        let description = schema["description"].as_str().unwrap_or_default().to_owned();
        let shape = Shape::of(&schema, direction);
        (name, Definition { description, shape })
    };
    definitions.into_iter().map(definition).collect()
}

/// Types by their names.
type Definitions = BTreeMap<String, Definition>;

/// A type with a name.
#[derive(PartialEq, Debug)]
struct Definition {
    description: String,
    shape: Shape,
}

/// Types for the tests of the page, which has no parser of its own.
#[test]
fn the_page_is_tested_with_types_of_the_program() {
    let mut types = TypeTable::default();
    for signature in [
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
    ] {
        types.add(signature);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/generated/types.json");
    let json = serde_json::to_string_pretty(&types).expect("all keys are texts");
    golden::check(file, &(json + "\n"));
}
