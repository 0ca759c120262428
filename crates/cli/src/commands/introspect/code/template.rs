//! Rendering of the templates for generated code, and the types that their filters receive.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Deserialize;
use wire::signature::{Signature, Type};

use super::model::{InterfaceModel, ProxySource, ReplyModel};
use super::text;

/// An argument or result in a template.
#[derive(Deserialize)]
pub(super) struct TemplateValue {
    pub(super) name: String,
    kind: String,
}

impl TemplateValue {
    pub(super) fn kind(&self) -> Type<'_> {
        type_of(&self.kind)
    }
}

/// The results of a method in a template.
#[derive(Deserialize)]
pub(super) struct MethodResults {
    pub(super) answer: ReplyModel,
    pub(super) results: Vec<TemplateValue>,
}

/// The type for a signature in a template.
pub(super) fn type_of(kind: &str) -> Type<'_> {
    let signature = Signature::new(kind).ok();
    signature.and_then(Signature::single).expect("the model has only complete types")
}

/// Returns an environment with shared filters. Lines that contain only a block produce no output.
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.add_filter("clean", |line: &str| text::clean(line));
    environment
}

/// Renders a template for these interfaces.
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
