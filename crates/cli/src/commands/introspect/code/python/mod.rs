//! Classes of Python over a connection of GLib.
//!
//! ```text
//! class Player1(Proxy):
//!     def play(self, song: str) -> int:
//! ```

mod rules;
mod values;

use std::fmt::Write as _;

use super::model::{
    About, Answer, ArgumentModel, MethodModel, PropertyModel, Proxy, SignalModel, Source, contains,
    signature,
};
use super::text;
pub(super) use rules::RULES;
use values::{given, got, hint, hint_of_result, is_converted, is_descriptor, tuple};

/// The file.
pub(super) fn file(source: &Source<'_>, proxies: &[Proxy<'_>]) -> String {
    let mut text = String::from("\"\"\"");
    let heading: Vec<_> = source.heading().collect();
    text += &heading.join("\n\n");
    text += "\n\"\"\"\n\nfrom __future__ import annotations\n\n";
    if proxies.iter().any(can_warn) {
        text += "import warnings\n";
    }
    text += "from typing import Any, Callable\n\nfrom gi.repository import Gio, GLib\n\n";
    let _ = write!(text, "SERVICE = \"{}\"\nPATH = \"{}\"\n", source.service, source.path);
    text.extend(["\n\n", BASE]);
    proxies.iter().for_each(|proxy| class(&mut text, proxy));
    text
}

/// Whether a function of the class can warn that it is deprecated.
fn can_warn(proxy: &Proxy<'_>) -> bool {
    let mut methods = proxy.methods.iter().map(|one| &one.about);
    let mut properties = proxy.properties.iter().map(|one| &one.about);
    methods.any(|about| about.is_deprecated) || properties.any(|about| about.is_deprecated)
}

fn class(text: &mut String, proxy: &Proxy<'_>) {
    let _ = write!(text, "\n\nclass {}(Proxy):\n", proxy.name);
    documentation(text, INDENT, proxy.interface, &proxy.about);
    let _ = write!(text, "\n    INTERFACE = \"{}\"\n", proxy.interface);
    proxy.methods.iter().for_each(|one| method(text, one));
    proxy.properties.iter().for_each(|one| property(text, one));
    proxy.signals.iter().for_each(|one| signal(text, one));
    let mut gap = "\n";
    for line in &proxy.left_out {
        let _ = writeln!(text, "{}    # Left out: {}", std::mem::take(&mut gap), text::clean(line));
    }
}

fn method(text: &mut String, method: &MethodModel<'_>) {
    let arguments = method.arguments.iter();
    let arguments: Vec<_> =
        arguments.map(|one| format!("{}: {}", one.name, hint(one.kind))).collect();
    let results: Vec<_> = method.results.iter().map(|one| hint_of_result(one.kind)).collect();
    let is_answered = method.answer == Answer::Comes;
    let result = match results.as_slice() {
        [] => String::from("None"),
        _ if !is_answered => String::from("None"),
        [one] => one.clone(),
        several => format!("tuple[{}]", several.join(", ")),
    };
    function(text, &method.name, &arguments, &result);
    documentation(text, BODY, &method.declared, &method.about);
    warning(text, method.member, &method.about);
    let has_descriptors = method.arguments.iter().any(|one| contains(one.kind, is_descriptor));
    if has_descriptors {
        text.push_str("        _fds = Gio.UnixFDList()\n");
    }
    let values: Vec<_> =
        method.arguments.iter().map(|one| given(one.kind, one.name.clone(), 0)).collect();
    let mut words = vec![
        String::from("self.INTERFACE"),
        format!("\"{}\"", method.member),
        format!("\"({})\"", signature(&method.arguments)),
        tuple(&values),
    ];
    if has_descriptors {
        words.push(String::from("_fds"));
    }
    if !is_answered {
        call(text, "self._send", &words);
        return;
    }
    if method.results.is_empty() {
        call(text, "self._call", &words);
        return;
    }
    call(text, "_results, _got = self._call", &words);
    let values = method.results.iter().enumerate();
    let values: Vec<_> =
        values.map(|(number, one)| got(one.kind, format!("_results[{number}]"), 0)).collect();
    let is_as_it_is = method.results.iter().all(|one| !contains(one.kind, is_converted));
    let value = match values.as_slice() {
        [one] => one.clone(),
        _ if is_as_it_is => String::from("_results"),
        several => {
            call(text, "return ", several);
            return;
        }
    };
    let _ = writeln!(text, "        return {value}");
}

fn property(text: &mut String, property: &PropertyModel<'_>) {
    let PropertyModel { member, name, setter, kind, access, declared, about, .. } = property;
    if access.is_readable() {
        text.push_str("\n    @property");
        function(text, name, &[], &hint_of_result(*kind));
        documentation(text, BODY, declared, about);
        warning(text, member, about);
        call(text, "_value, _got = self._get", &[format!("\"{member}\"")]);
        let _ = writeln!(text, "        return {}", got(*kind, String::from("_value"), 0));
    }
    if access.is_writable() {
        let value = [format!("value: {}", hint(*kind))];
        match access.is_readable() {
            true => {
                let _ = write!(text, "\n    @{name}.setter");
                function(text, name, &value, "None");
            }
            // A property that cannot be read is none of Python.
            false => function(text, &format!("set_{setter}"), &value, "None"),
        }
        if !access.is_readable() {
            documentation(text, BODY, declared, about);
        }
        warning(text, member, about);
        let has_descriptors = contains(*kind, is_descriptor);
        if has_descriptors {
            text.push_str("        _fds = Gio.UnixFDList()\n");
        }
        let value = given(*kind, String::from("value"), 0);
        let mut words = vec![format!("\"{member}\""), format!("GLib.Variant(\"{kind}\", {value})")];
        if has_descriptors {
            words.push(String::from("_fds"));
        }
        call(text, "self._set", &words);
    }
}

fn signal(text: &mut String, signal: &SignalModel<'_>) {
    let hints: Vec<_> = signal.arguments.iter().map(|one| hint_of_result(one.kind)).collect();
    let handler = [format!("handler: Callable[[{}], None]", hints.join(", "))];
    function(text, &format!("connect_{}", signal.name), &handler, "int");
    documentation(text, BODY, &signal.declared, &signal.about);
    let is_as_it_is = signal.arguments.iter().all(|one| !contains(one.kind, is_converted));
    let handler = if is_as_it_is { String::from("handler") } else { converting(&signal.arguments) };
    call(text, "return self._connect", &[format!("\"{}\"", signal.member), handler]);
}

/// A function that has bytes where GLib has lists of numbers.
fn converting(arguments: &[ArgumentModel<'_>]) -> String {
    let numbered: Vec<_> = (0..arguments.len()).map(|number| format!("_{number}")).collect();
    let values: Vec<_> =
        arguments.iter().zip(&numbered).map(|(one, name)| got(one.kind, name.clone(), 0)).collect();
    format!("lambda {}: handler({})", numbered.join(", "), values.join(", "))
}

/// The head of a function, broken as formatters of Python do it.
fn function(text: &mut String, name: &str, arguments: &[String], result: &str) {
    let others: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
    let line = format!("    def {name}(self{others}) -> {result}:");
    // It follows an empty line, or directly a decorator, whose line is not ended yet.
    text.push('\n');
    if line.chars().count() <= WIDTH {
        let _ = writeln!(text, "{line}");
        return;
    }
    let inside = format!("        self{others}");
    if inside.chars().count() <= WIDTH {
        let _ = writeln!(text, "    def {name}(\n{inside}\n    ) -> {result}:");
        return;
    }
    let _ = writeln!(text, "    def {name}(\n        self,");
    arguments.iter().for_each(|argument| {
        let _ = writeln!(text, "        {argument},");
    });
    let _ = writeln!(text, "    ) -> {result}:");
}

fn call(text: &mut String, function: &str, words: &[String]) {
    let line = format!("        {function}({})", words.join(", "));
    if line.chars().count() <= WIDTH {
        let _ = writeln!(text, "{line}");
        return;
    }
    let inside = format!("            {}", words.join(", "));
    if inside.chars().count() <= WIDTH {
        let _ = writeln!(text, "        {function}(\n{inside}\n        )");
        return;
    }
    let _ = writeln!(text, "        {function}(");
    words.iter().for_each(|word| {
        let _ = writeln!(text, "            {word},");
    });
    text.push_str("        )\n");
}

/// What it is on the bus, and what the service says of it.
fn documentation(text: &mut String, indent: &str, declared: &str, about: &About) {
    let told = about.documentation.iter().flatten().map(|line| escaped(line));
    let deprecated = about.is_deprecated.then(|| String::from("Deprecated."));
    let told: Vec<_> = told.chain(deprecated).collect();
    let _ = write!(text, "{indent}\"\"\"{}", escaped(declared));
    if told.is_empty() {
        text.push_str("\"\"\"\n");
        return;
    }
    text.push_str("\n\n");
    for line in told {
        let indent = if line.is_empty() { "" } else { indent };
        let _ = writeln!(text, "{indent}{line}");
    }
    let _ = writeln!(text, "{indent}\"\"\"");
}

/// As it may stand between three quotation marks.
fn escaped(line: &str) -> String {
    text::clean(line).replace('\\', "\\\\").replace('"', "\\\"")
}

fn warning(text: &mut String, member: &str, about: &About) {
    if about.is_deprecated {
        let _ = writeln!(
            text,
            "        warnings.warn(\"{member} is deprecated\", DeprecationWarning, stacklevel=2)"
        );
    }
}

/// What the classes have in common.
const BASE: &str = include_str!("base.py");

/// Characters of a line at most, as formatters of Python have it.
const WIDTH: usize = 88;

const INDENT: &str = "    ";
const BODY: &str = "        ";
