//! Templates of generated code, and what their filters get.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Deserialize;
use wire::signature::{Signature, Type};

use super::model::{InterfaceModel, ProxySource, ReplyModel};
use super::text;

/// A value that is passed, as a template has it.
#[derive(Deserialize)]
pub(super) struct Passed {
    pub(super) name: String,
    kind: String,
}

impl Passed {
    pub(super) fn kind(&self) -> Type<'_> {
        type_of(&self.kind)
    }
}

/// What a method answers, as a template has it.
#[derive(Deserialize)]
pub(super) struct MethodResults {
    pub(super) answer: ReplyModel,
    pub(super) results: Vec<Passed>,
}

/// A type, as a template has it.
pub(super) fn type_of(kind: &str) -> Type<'_> {
    let signature = Signature::new(kind).ok();
    signature.and_then(Signature::single).expect("the model has only complete types")
}

/// What fills templates in. Blocks take no lines of their own.
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.add_filter("clean", |line: &str| text::clean(line));
    environment
}

/// Fills a template in for these proxies.
pub(super) fn fill(
    environment: &Environment<'_>,
    template: &str,
    source: &ProxySource<'_>,
    proxies: &[InterfaceModel<'_>],
) -> String {
    let ProxySource { service, path } = *source;
    let heading: Vec<_> = source.heading().collect();
    let context = context! { service, path, heading, proxies => Serde(proxies) };
    environment.render_str(template, context).expect("the template fits every proxy")
}
