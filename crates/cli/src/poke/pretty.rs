//! Values for people: indented, one on each line, with names.

use capture::text::Style;
use capture::text::visible::printable;
use inspector::Descriptor;
use notation::{gvariant, signature, text as basic};
use wire::body::Value;

use super::shown::{ShownKind, ShownValues};

/// Formats values as indented lines.
pub(super) fn text(shown: &ShownValues<'_>, values: &[Value], style: Style) -> String {
    let mut lines = PrettyLines { text: String::new(), style, descriptors: shown.descriptors };
    for (place, value) in values.iter().enumerate() {
        let label = match shown.origin {
            ShownKind::Results { names, .. } | ShownKind::Signal { names } => {
                names.get(place).and_then(|one| one.name.clone())
            }
            ShownKind::Property(name) => Some(name.to_owned()),
        };
        let label = label.filter(|name| !name.is_empty()).unwrap_or_else(|| signature(value));
        lines.push(0, &format!("{}:", style.strong(printable(&label))), value);
    }
    lines.text
}

struct PrettyLines<'d> {
    text: String,
    style: Style,
    descriptors: &'d [Descriptor],
}

impl PrettyLines<'_> {
    /// Adds a value after its label, with the indentation of `depth` containers.
    fn push(&mut self, depth: usize, label: &str, value: &Value) {
        match value {
            Value::Variant(inside) => self.push(depth, label, inside),
            Value::Array { items, .. } if items.is_empty() => self.empty(depth, label, value),
            Value::Struct(items) | Value::Array { items, .. } => {
                self.line(depth, label, "");
                items.iter().for_each(|item| self.item(depth + 1, item));
            }
            Value::DictEntry(entry) => self.item(depth, &Value::DictEntry(entry.clone())),
            Value::UnixFd(place) => {
                let found = self.descriptors.get(*place as usize).map(|found| found.what.clone());
                let target = found.unwrap_or_else(|| format!("descriptor {place}"));
                self.line(depth, label, &printable(&target));
            }
            Value::Bytes(_) => self.line(depth, label, &gvariant::value(value)),
            Value::String(words) if words.is_empty() => self.empty(depth, label, value),
            value => self.line(depth, label, &printable(&basic(value))),
        }
    }

    /// Adds an element of an array, or an entry of a dictionary.
    fn item(&mut self, depth: usize, item: &Value) {
        match item {
            Value::DictEntry(entry) => {
                let key = basic(&entry.0);
                let label = format!("{}:", self.style.strong(printable(&key)));
                self.push(depth, &label, &entry.1);
            }
            item => self.push(depth, "-", item),
        }
    }

    fn empty(&mut self, depth: usize, label: &str, value: &Value) {
        let nothing = self.style.pale(match value {
            Value::String(_) => "(empty)",
            _ => "(none)",
        });
        self.line(depth, label, &nothing);
    }

    fn line(&mut self, depth: usize, label: &str, text: &str) {
        let indent = depth * INDENT;
        let space = if text.is_empty() { "" } else { " " };
        self.text.push_str(&format!("{:indent$}{label}{space}{text}\n", ""));
    }
}

const INDENT: usize = 2;
