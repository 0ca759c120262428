//! Rust declarations, wrapped like rustfmt does.

use std::fmt::Write as _;

/// The maximum length of lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeclarationLayout {
    pub(super) width: usize,
}

impl DeclarationLayout {
    /// Adds a function of a trait. If it does not fit on one line, each argument gets a line.
    pub(super) fn function(
        self,
        text: &mut String,
        name: &str,
        arguments: &[String],
        result: &str,
    ) {
        let others: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
        let line = format!("    fn {name}(&self{others}) -> {result};");
        if line.len() <= self.width {
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
        text.push_str("    ) -> ");
        self.kind(text, result, 4, 5, 1);
        text.push_str(";\n");
    }

    /// Adds a type. `before` and `after` are the numbers of characters on the same line.
    fn kind(self, text: &mut String, kind: &str, indent: usize, before: usize, after: usize) {
        let is_short = indent + before + kind.len() + after <= self.width;
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
