//! Python classes for GLib, from the template `module.j2`.
//!
//! ```text
//! class Player1(Proxy):
//!     def play(self, song: str) -> int:
//! ```

mod rules;
mod values;

use minijinja::value::Serde;

use super::model::{InterfaceModel, ProxySource, ReplyModel, contains};
use super::template::{MethodResults, TemplateValue, environment, fill, type_of};
use super::text;
pub(super) use rules::RULES;
use values::{from_glib, hint, hint_of_result, is_converted, is_descriptor, to_glib, tuple};

/// Renders the module for these interfaces.
pub(super) fn file(source: &ProxySource<'_>, proxies: &[InterfaceModel<'_>]) -> String {
    let mut environment = environment();
    environment.add_global("base", include_str!("base.py"));
    let can_warn = proxies.iter().any(can_warn);
    environment.add_global("can_warn", can_warn);
    environment.add_filter("escaped", |line: &str| escaped(line));
    environment.add_filter("function", function);
    environment.add_filter("call", call);
    environment.add_filter("hints", |Serde(values): Serde<Vec<TemplateValue>>| -> Vec<String> {
        values.iter().map(|one| format!("{}: {}", one.name, hint(one.kind()))).collect()
    });
    environment.add_filter("hint_of_result", |kind: &str| hint_of_result(type_of(kind)));
    environment.add_filter("handler_hint", |Serde(values): Serde<Vec<TemplateValue>>| {
        let hints: Vec<_> = values.iter().map(|one| hint_of_result(one.kind())).collect();
        format!("handler: Callable[[{}], None]", hints.join(", "))
    });
    environment.add_filter("result", |Serde(method): Serde<MethodResults>| result(&method));
    environment.add_filter("has_descriptors", has_descriptors);
    environment.add_filter("to_glib", |kind: &str, value: String| to_glib(type_of(kind), value, 0));
    environment.add_filter("all_to_glib", |Serde(values): Serde<Vec<TemplateValue>>| {
        let converted = |one: &TemplateValue| to_glib(one.kind(), one.name.clone(), 0);
        tuple(&values.iter().map(converted).collect::<Vec<_>>())
    });
    environment
        .add_filter("from_glib", |kind: &str, value: String| from_glib(type_of(kind), value, 0));
    environment
        .add_filter("returned", |Serde(values): Serde<Vec<TemplateValue>>| returned(&values));
    environment.add_filter("handler", |Serde(values): Serde<Vec<TemplateValue>>| handler(&values));
    fill(&environment, include_str!("module.j2"), source, proxies)
}

/// Returns true if a function of the class warns that it is deprecated.
fn can_warn(proxy: &InterfaceModel<'_>) -> bool {
    let mut methods = proxy.methods.iter().map(|one| &one.about);
    let mut properties = proxy.properties.iter().map(|one| &one.about);
    methods.any(|about| about.is_deprecated) || properties.any(|about| about.is_deprecated)
}

/// The return type hint of a method.
fn result(method: &MethodResults) -> String {
    match (method.answer, method.results.as_slice()) {
        (ReplyModel::None, _) | (_, []) => String::from("None"),
        (_, [one]) => hint_of_result(one.kind()),
        (_, several) => {
            let hints: Vec<_> = several.iter().map(|one| hint_of_result(one.kind())).collect();
            format!("tuple[{}]", hints.join(", "))
        }
    }
}

fn has_descriptors(Serde(values): Serde<Vec<TemplateValue>>) -> bool {
    values.iter().any(|one| contains(one.kind(), is_descriptor))
}

/// Returns true if GLib already returns all of these values as the usual Python types.
fn need_no_conversion(values: &[TemplateValue]) -> bool {
    values.iter().all(|one| !contains(one.kind(), is_converted))
}

/// Returns the statement that returns the results.
fn returned(results: &[TemplateValue]) -> String {
    let values = results.iter().enumerate();
    let values = values.map(|(at, one)| from_glib(one.kind(), format!("_results[{at}]"), 0));
    match values.collect::<Vec<_>>().as_slice() {
        [one] => format!("        return {one}"),
        _ if need_no_conversion(results) => String::from("        return _results"),
        several => call("return ", several.to_vec(), Serde(Vec::new())),
    }
}

/// Returns the handler of a signal, wrapped in a lambda if arguments have to be converted.
fn handler(arguments: &[TemplateValue]) -> String {
    if need_no_conversion(arguments) {
        return String::from("handler");
    }
    let names: Vec<_> = (0..arguments.len()).map(|at| format!("_{at}")).collect();
    let values =
        arguments.iter().zip(&names).map(|(one, name)| from_glib(one.kind(), name.clone(), 0));
    format!("lambda {}: handler({})", names.join(", "), values.collect::<Vec<_>>().join(", "))
}

/// Returns the head of a function, wrapped like Python formatters do.
fn function(name: &str, arguments: Vec<String>, result: &str) -> String {
    let others: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
    let line = format!("    def {name}(self{others}) -> {result}:");
    if line.chars().count() <= WIDTH {
        return line;
    }
    let inside = format!("        self{others}");
    if inside.chars().count() <= WIDTH {
        return format!("    def {name}(\n{inside}\n    ) -> {result}:");
    }
    let arguments: String =
        arguments.iter().map(|argument| format!("        {argument},\n")).collect();
    format!("    def {name}(\n        self,\n{arguments}    ) -> {result}:")
}

/// Returns a call with these arguments, and with the list of descriptors if the values have some.
fn call(function: &str, mut words: Vec<String>, values: Serde<Vec<TemplateValue>>) -> String {
    words.extend(has_descriptors(values).then(|| String::from("_fds")));
    let line = format!("        {function}({})", words.join(", "));
    if line.chars().count() <= WIDTH {
        return line;
    }
    let inside = format!("            {}", words.join(", "));
    if inside.chars().count() <= WIDTH {
        return format!("        {function}(\n{inside}\n        )");
    }
    let words: String = words.iter().map(|word| format!("            {word},\n")).collect();
    format!("        {function}(\n{words}        )")
}

/// Escapes a line for a string with triple quotes.
fn escaped(line: &str) -> String {
    text::clean(line).replace('\\', "\\\\").replace('"', "\\\"")
}

/// The maximum length of a line, as in Python formatters.
const WIDTH: usize = 88;
