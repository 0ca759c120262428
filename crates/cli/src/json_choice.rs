//! `--json` with the forms of busctl.

use std::io::{self, IsTerminal as _, Write, stdout};

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Whether something is printed as JSON, and how.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct JsonChoice {
    /// Print JSON: `short` on one line, `pretty` on many; without a word pretty on a terminal and short
    /// anywhere else
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "auto",
        hide_possible_values = true
    )]
    json: Option<Form>,
    /// The same as --json
    #[arg(short, conflicts_with = "json")]
    j: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    Short,
    Pretty,
    Off,
    #[value(hide = true)]
    Auto,
}

impl JsonChoice {
    /// The value as JSON with a line feed at the end; `None` if that is not wanted.
    pub(crate) fn text(self, value: &impl Serialize) -> Option<String> {
        let is_pretty = match self.json.or(self.j.then_some(Form::Auto))? {
            Form::Off => return None,
            Form::Short => false,
            Form::Pretty => true,
            Form::Auto => stdout().is_terminal(),
        };
        let mut text = Vec::new();
        // Writing to memory does not fail, and what is told here has texts for keys.
        let _ = match is_pretty {
            true => value.serialize(&mut Serializer::with_formatter(&mut text, Tabs::default())),
            false => value.serialize(&mut Serializer::new(&mut text)),
        };
        Some(String::from_utf8_lossy(&text).into_owned() + "\n")
    }
}

/// As busctl has it: a tab for each level, and space on both sides of a colon.
#[derive(Default)]
struct Tabs {
    level: usize,
    /// Whether something stands in the container that is written.
    is_filled: bool,
}

impl Tabs {
    fn open(&mut self, out: &mut (impl Write + ?Sized), mark: &[u8]) -> io::Result<()> {
        self.level += 1;
        self.is_filled = false;
        out.write_all(mark)
    }

    fn close(&mut self, out: &mut (impl Write + ?Sized), mark: &[u8]) -> io::Result<()> {
        self.level -= 1;
        if self.is_filled {
            self.line(out)?;
        }
        self.is_filled = true;
        out.write_all(mark)
    }

    fn next(&mut self, out: &mut (impl Write + ?Sized), is_first: bool) -> io::Result<()> {
        out.write_all(if is_first { b"" } else { b"," })?;
        self.line(out)
    }

    fn line(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        write!(out, "\n{}", "\t".repeat(self.level))
    }
}

impl Formatter for Tabs {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b" : ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_has_tabs_as_busctl() {
        let choice = JsonChoice { json: Some(Form::Pretty), j: false };
        let value = serde_json::json!([{"a": 1, "b": []}, {}]);
        let expected = "[\n\t{\n\t\t\"a\" : 1,\n\t\t\"b\" : []\n\t},\n\t{}\n]\n";
        assert_eq!(choice.text(&value).as_deref(), Some(expected));
        assert_eq!(JsonChoice::default().text(&value), None);
    }
}
