//! Rust declarations, wrapped like rustfmt does.

use std::fmt::Write as _;

/// The maximum length of lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeclarationLayout {
    pub(super) width: usize,
}

impl DeclarationLayout {
    /// Adds a function of a trait. If it does not fit on one line, each argument gets a line. The
    /// result may be empty.
    pub(super) fn function(
        self,
        text: &mut String,
        name: &str,
        arguments: &[String],
        result: &str,
    ) {
        let others: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
        let arrow = if result.is_empty() { "" } else { " -> " };
        let line = format!("    fn {name}(&self{others}){arrow}{result};");
        let mut kinds = arguments.iter().map(String::as_str).chain([result]);
        if line.len() <= self.width && !kinds.any(has_wide_tuple) {
            let _ = writeln!(text, "{line}");
            return;
        }
        let _ = writeln!(text, "    fn {name}(\n        &self,");
        for argument in arguments {
            text.push_str("        ");
            match argument.split_once(": ") {
                Some((name, kind)) => {
                    let _ = write!(text, "{name}: ");
                    self.kind(text, kind, 8, name.len() + 2, 1);
                }
                None => text.push_str(argument),
            }
            text.push_str(",\n");
        }
        let _ = write!(text, "    ){arrow}");
        self.kind(text, result, 4, 5, 1);
        text.push_str(";\n");
    }

    /// Adds a type. `before` and `after` are the numbers of characters on the same line.
    fn kind(self, text: &mut String, kind: &str, indent: usize, before: usize, after: usize) {
        let is_short = indent + before + kind.len() + after <= self.width && !has_wide_tuple(kind);
        let Some((open, inside, close)) = (!is_short).then(|| split_type(kind)).flatten() else {
            text.push_str(kind);
            return;
        };
        let step = indent + STEP;
        let _ = writeln!(text, "{open}");
        for one in items(inside) {
            let _ = write!(text, "{:step$}", "");
            self.kind(text, one, step, 0, 1);
            text.push_str(",\n");
        }
        let _ = write!(text, "{:indent$}{close}", "");
    }
}

/// Returns true if a type has a tuple that rustfmt wraps even if it fits on the line.
fn has_wide_tuple(kind: &str) -> bool {
    let mut starts = Vec::new();
    kind.char_indices().any(|(at, c)| match c {
        '(' => {
            starts.push(at + 1);
            false
        }
        ')' => starts.pop().is_some_and(|start| at - start > TUPLE_WIDTH),
        _ => false,
    })
}

/// Splits a type into the part up to the opening bracket, the content, and the closing bracket. For
/// a tuple that is the only argument of another type, both brackets stay together.
fn split_type(kind: &str) -> Option<(&str, &str, &str)> {
    let start = kind.find(['<', '(', '['])? + 1;
    // A lifetime as the only argument is not wrapped.
    let inside = kind.get(start..kind.len() - 1).filter(|inside| *inside != "'_")?;
    let is_alone = inside.starts_with(['(', '[']) && items(inside).count() == 1;
    match is_alone && inside.ends_with([')', ']']) {
        true => Some((&kind[..=start], &inside[1..inside.len() - 1], &kind[kind.len() - 2..])),
        false => Some((&kind[..start], inside, &kind[kind.len() - 1..])),
    }
}

/// Splits at commas that are not inside brackets.
fn items(inside: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let is_end = move |c: char| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    inside.split(is_end).map(str::trim).filter(|one| !one.is_empty())
}

const STEP: usize = 4;

/// The maximum length of the fields of a tuple on one line.
const TUPLE_WIDTH: usize = 60;
