//! A header for C with functions over sd-bus.
//!
//! ```text
//! static inline int player1_play(
//!         const struct player1_proxy *proxy, const char *song, uint32_t *length,
//!         sd_bus_message **ret_reply, sd_bus_error *error)
//! ```
//!
//! What C has no type for is appended and read by a function of the caller's.

mod rules;
mod values;

use std::fmt::Write as _;

use inspector::introspection::EmitsChange;

use super::model::{
    About, Answer, ArgumentModel, MethodModel, PropertyModel, Proxy, SignalModel, Source, signature,
};
use super::names::snake;
use super::text;
use values::Passing;

pub(super) use rules::RULES;

/// The file.
pub(super) fn file(source: &Source<'_>, proxies: &[Proxy<'_>]) -> String {
    let mut text = String::from("/*\n");
    source.heading().for_each(|line| {
        let _ = writeln!(text, " * {line}");
    });
    text += HEAD;
    proxies.iter().for_each(|proxy| interface(&mut text, source, proxy));
    text
}

fn interface(text: &mut String, source: &Source<'_>, proxy: &Proxy<'_>) {
    let prefix = snake(&proxy.name, "unnamed");
    text.push('\n');
    comment(text, proxy.interface, proxy.about);
    let Source { service, path } = source;
    let _ = write!(
        text,
        "struct {prefix}_proxy {{\n    sd_bus *bus;\n    const char *service;\n    const char *path;\n}};\n\n\
         static inline struct {prefix}_proxy {prefix}_proxy_on(sd_bus *bus) {{\n    \
         return (struct {prefix}_proxy) {{ bus, \"{service}\", \"{path}\" }};\n}}\n"
    );
    let writer = Writer { prefix: &prefix, interface: proxy.interface };
    proxy.methods.iter().for_each(|one| writer.method(text, one));
    proxy.properties.iter().for_each(|one| writer.property(text, one));
    proxy.signals.iter().for_each(|one| writer.signal(text, one));
    let is_told = |property: &PropertyModel<'_>| {
        matches!(property.emits_change, EmitsChange::Value | EmitsChange::Invalidates)
    };
    if proxy.properties.iter().any(is_told) {
        text.push('\n');
        let about = About { documentation: None, is_deprecated: false };
        comment(text, "Its arguments are the interface, new values (a{sv}) and names (as).", about);
        writer.matching(text, "properties_changed", PROPERTIES, "PropertiesChanged", about);
    }
    let mut gap = "\n";
    for line in &proxy.left_out {
        let line = safe(&text::clean(line));
        let _ = writeln!(text, "{}/* Left out: {line} */", std::mem::take(&mut gap));
    }
}

/// The functions of one interface.
#[derive(Clone, Copy)]
struct Writer<'a> {
    prefix: &'a str,
    interface: &'a str,
}

impl Writer<'_> {
    fn method(self, text: &mut String, method: &MethodModel<'_>) {
        let is_answered = method.answer == Answer::Comes;
        let results: &[ArgumentModel<'_>] = if is_answered { &method.results } else { &[] };
        let mut parameters = vec![self.proxy()];
        parameters.extend(method.arguments.iter().map(values::given));
        parameters.extend(results.iter().map(values::got));
        if results.iter().any(|one| Passing::of(one.kind).borrows()) {
            parameters.push(String::from("sd_bus_message **ret_reply"));
        }
        if is_answered {
            parameters.push(String::from("sd_bus_error *error"));
        }
        text.push('\n');
        comment(text, &method.declared(), method.about);
        self.head(text, &method.name, &parameters, method.about);
        self.begin(text, is_answered, self.interface, method.member);
        values::append(text, &method.arguments);
        match is_answered {
            false => {
                text.push_str(
                    "    if (r >= 0)\n        r = sd_bus_message_set_expect_reply(_m, 0);\n",
                );
                text.push_str("    if (r >= 0)\n        r = sd_bus_send(proxy->bus, _m, NULL);\n");
            }
            true => {
                text.push_str("    if (r >= 0)\n        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);\n");
                check_types(text, "_reply", &signature(results));
                values::read(text, "_reply", results);
            }
        }
        finish(text, is_answered, results);
    }

    fn property(self, text: &mut String, property: &PropertyModel<'_>) {
        let PropertyModel { member, name, setter, kind, access, emits_change, about } = property;
        let changes = match emits_change {
            EmitsChange::Value => "",
            EmitsChange::Invalidates => "; changes are announced without the value",
            EmitsChange::Const => "; it never changes",
            EmitsChange::No => "; changes are not announced",
        };
        let declared = format!("{member}: {kind}{changes}");
        if access.is_readable() {
            let value = ArgumentModel::alone("ret_value", *kind);
            let mut parameters = vec![self.proxy(), values::got(&value)];
            if Passing::of(*kind).borrows() {
                parameters.push(String::from("sd_bus_message **ret_reply"));
            }
            parameters.push(String::from("sd_bus_error *error"));
            text.push('\n');
            comment(text, &declared, *about);
            self.head(text, &format!("get_{name}"), &parameters, *about);
            let _ = write!(
                text,
                "    sd_bus_message *_reply = NULL;\n    int r;\n\n    \
                 r = sd_bus_get_property(proxy->bus, proxy->service, proxy->path, \"{}\",\n            \
                 \"{member}\", error, &_reply, \"{kind}\");\n",
                self.interface
            );
            let values = [value];
            values::read(text, "_reply", &values);
            finish_reading(text, &values);
        }
        if access.is_writable() {
            let value = ArgumentModel::alone("value", *kind);
            let parameters =
                [self.proxy(), values::given(&value), String::from("sd_bus_error *error")];
            text.push('\n');
            comment(text, &declared, *about);
            self.head(text, &format!("set_{setter}"), &parameters, *about);
            self.begin(text, true, PROPERTIES, "Set");
            let _ = write!(
                text,
                "    if (r >= 0)\n        r = sd_bus_message_append(_m, \"ss\", \"{}\", \"{member}\");\n    \
                 if (r >= 0)\n        r = sd_bus_message_open_container(_m, 'v', \"{kind}\");\n",
                self.interface
            );
            values::append(text, &[value]);
            text.push_str(
                "    if (r >= 0)\n        r = sd_bus_message_close_container(_m);\n    \
                 if (r >= 0)\n        r = sd_bus_call(proxy->bus, _m, 0, error, &_reply);\n",
            );
            finish(text, true, &[]);
        }
    }

    fn signal(self, text: &mut String, signal: &SignalModel<'_>) {
        let SignalModel { member, name, arguments, about } = signal;
        text.push('\n');
        comment(text, &signal.declared(), *about);
        self.matching(text, name, self.interface, member, *about);
        if arguments.is_empty() {
            return;
        }
        let _ = write!(text, "\n/* What {member} carries. */\n");
        let mut parameters = vec![String::from("sd_bus_message *message")];
        parameters.extend(arguments.iter().map(values::got));
        self.head(text, &format!("read_{name}"), &parameters, *about);
        text.push_str("    int r = 0;\n\n");
        check_types(text, "message", &signature(arguments));
        values::read(text, "message", arguments);
        text.push_str("    return r;\n}\n");
    }

    /// Has a function called with each signal.
    fn matching(
        self,
        text: &mut String,
        name: &str,
        interface: &str,
        member: &str,
        about: About<'_>,
    ) {
        let parameters = [
            self.proxy(),
            String::from("sd_bus_slot **slot"),
            String::from("sd_bus_message_handler_t handler"),
            String::from("void *data"),
        ];
        self.head(text, &format!("match_{name}"), &parameters, about);
        let _ = write!(
            text,
            "    return sd_bus_match_signal(proxy->bus, slot, proxy->service, proxy->path,\n            \
             \"{interface}\", \"{member}\", handler, data);\n}}\n"
        );
    }

    fn proxy(self) -> String {
        format!("const struct {}_proxy *proxy", self.prefix)
    }

    fn head(self, text: &mut String, name: &str, parameters: &[String], about: About<'_>) {
        if about.is_deprecated {
            text.push_str("__attribute__((deprecated))\n");
        }
        let _ = write!(
            text,
            "static inline int {}_{name}(\n        {}) {{\n",
            self.prefix,
            parameters.join(",\n        ")
        );
    }

    /// Begins a call.
    fn begin(self, text: &mut String, is_answered: bool, interface: &str, member: &str) {
        let reply = if is_answered { ", *_reply = NULL" } else { "" };
        let _ = write!(
            text,
            "    sd_bus_message *_m = NULL{reply};\n    int r;\n\n    \
             r = sd_bus_message_new_method_call(proxy->bus, &_m, proxy->service, proxy->path,\n            \
             \"{interface}\", \"{member}\");\n"
        );
    }
}

/// That what came has the types that were told.
fn check_types(text: &mut String, message: &str, types: &str) {
    if !types.is_empty() {
        let _ = write!(
            text,
            "    if (r >= 0 && sd_bus_message_has_signature({message}, \"{types}\") <= 0)\n        \
             r = -EBADMSG;\n"
        );
    }
}

fn finish(text: &mut String, is_answered: bool, results: &[ArgumentModel<'_>]) {
    text.push_str("    sd_bus_message_unref(_m);\n");
    match is_answered {
        true => finish_reading(text, results),
        false => text.push_str("    return r;\n}\n"),
    }
}

fn finish_reading(text: &mut String, results: &[ArgumentModel<'_>]) {
    if results.iter().any(|one| Passing::of(one.kind).borrows()) {
        text.push_str("    *ret_reply = r >= 0 ? sd_bus_message_ref(_reply) : NULL;\n");
    }
    text.push_str("    sd_bus_message_unref(_reply);\n    return r;\n}\n");
}

fn comment(text: &mut String, declared: &str, about: About<'_>) {
    let told = about.documentation.into_iter().flat_map(text::lines);
    let deprecated = about.is_deprecated.then(|| String::from("Deprecated."));
    let told: Vec<_> = told.chain(deprecated).collect();
    if told.is_empty() {
        let _ = writeln!(text, "/* {} */", safe(&text::clean(declared)));
        return;
    }
    let _ = writeln!(text, "/* {}", safe(&text::clean(declared)));
    text.push_str(" *\n");
    for line in told {
        let gap = if line.is_empty() { "" } else { " " };
        let _ = writeln!(text, " *{gap}{}", safe(&line));
    }
    text.push_str(" */\n");
}

/// As it may stand in a comment: it neither ends it nor begins another.
fn safe(line: &str) -> String {
    line.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
}

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// What holds for all functions, and what they need.
const HEAD: &str = include_str!("head.h");
