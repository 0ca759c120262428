//! Golden files of generated code, for a document with all features and for a hostile one.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use inspector::introspection::IntrospectionDocument;
use testkit::golden;

use super::model::ProxySource;
use super::{Language, code};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/code")
}

fn check(name: &str, language: Language) {
    let document = std::fs::read_to_string(folder().join(name).with_extension("xml"));
    let document =
        IntrospectionDocument::parse(&document.expect("it is there")).expect("it is XML");
    let source = ProxySource { service: "org.example.Service", path: "/org/example/Object" };
    let ending = match language {
        Language::Rust => "rs",
        Language::Zbus => "zbus",
        Language::Python => "py",
        Language::C => "h",
    };
    let code = code(source, &document.interfaces, language);
    golden::check(folder().join(name).with_extension(ending), &code);
}

#[test]
fn generated_code_matches_the_golden_files() {
    for language in Language::value_variants() {
        check("everything", *language);
        check("hostile", *language);
    }
}
