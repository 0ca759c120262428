//! Declarations of Rust, broken as rustfmt does it.

use std::fmt::Write as _;

/// How long lines may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeclarationLayout {
    pub(super) width: usize,
}

impl DeclarationLayout {
    /// A function of a trait, with its arguments one below the other where there is no room on a line.
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

    /// A type that stands on a line behind so much, with so much behind it.
    fn kind(self, text: &mut String, kind: &str, indent: usize, before: usize, after: usize) {
        let is_short = indent + before + kind.len() + after <= self.width;
        let Some((open, inside, close)) = (!is_short).then(|| apart(kind)).flatten() else {
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

/// What a type begins with, what is in its brackets, and what ends it. A tuple that is alone in
/// another's brackets is not set off from these.
fn apart(kind: &str) -> Option<(&str, &str, &str)> {
    let start = kind.find(['<', '(', '['])? + 1;
    // What the lifetime of a type without parts is in is no bracket.
    let inside = kind.get(start..kind.len() - 1).filter(|inside| *inside != "'_")?;
    let is_alone = inside.starts_with(['(', '[']) && items(inside).count() == 1;
    match is_alone && inside.ends_with([')', ']']) {
        true => Some((&kind[..=start], &inside[1..inside.len() - 1], &kind[kind.len() - 2..])),
        false => Some((&kind[..start], inside, &kind[kind.len() - 1..])),
    }
}

/// What commas separate, outside of brackets.
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
