//! Reports in Markdown, for the documentation and the README.

use std::fmt::{self, Display, Write as _};

use super::model::{Block, Cell, Column, Report, Span, Table, Text, Tone};

pub(super) fn report(report: &Report<'_>) -> String {
    let mut parts = vec![format!("# {}\n", report.title), format!("{DO_NOT_EDIT}\n")];
    parts.extend(report.introduction.iter().filter_map(block));
    for section in &report.sections {
        parts.push(format!("## {}\n", Escaped(&section.title)));
        parts.extend(section.blocks.iter().filter_map(block));
    }
    parts.join("\n")
}

pub(super) fn blocks(blocks: &[Block<'_>]) -> String {
    blocks.iter().filter_map(block).collect::<Vec<_>>().join("\n")
}

/// One block, with a newline at its end; `None` if Markdown cannot show it.
fn block(block: &Block<'_>) -> Option<String> {
    Some(match block {
        Block::Paragraph(text) => format!("{text}\n"),
        Block::List(items) => {
            let mut list = String::new();
            for item in items {
                let _ = writeln!(list, "- {}", item.text);
                for nested in &item.nested {
                    let _ = writeln!(list, "  - {nested}");
                }
            }
            list
        }
        Block::Table(table) => table.to_string(),
        Block::FoldedTable { title, table } => {
            let title = Escaped(title);
            format!("<details><summary>{title}</summary>\n\n{table}\n</details>\n")
        }
        Block::Commands(lines) => format!("```sh\n{}\n```\n", lines.join("\n")),
        Block::Plots(_) => return None,
    })
}

impl Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|span| match span {
            Span::Plain(text) => write!(f, "{}", Escaped(text)),
            Span::Emphasis(text) => write!(f, "*{}*", Escaped(text)),
            Span::Code(text) => write!(f, "`{text}`"),
        })
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for column in &self.columns {
            match column {
                Column::Label => f.write_str("| ")?,
                Column::Subject(title) => write!(f, "| {} ", Escaped(title))?,
                Column::Number(title) => write!(f, "| {} ", Escaped(title))?,
            }
        }
        f.write_str("|\n")?;
        for column in &self.columns {
            f.write_str(if matches!(column, Column::Label) { "| --- " } else { "| ---: " })?;
        }
        f.write_str("|\n")?;
        for row in &self.rows {
            row.iter().try_for_each(|cell| write!(f, "| {cell} "))?;
            f.write_str("|\n")?;
        }
        Ok(())
    }
}

impl Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Escaped(&self.text);
        match self.tone {
            Tone::Best => write!(f, "**{text}**")?,
            Tone::Plain | Tone::Better | Tone::Worse => write!(f, "{text}")?,
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, " {}", Escaped(&self.detail)) }
    }
}

/// A text whose characters have no meaning in Markdown.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = ' ';
        let mut signs = self.0.chars().peekable();
        while let Some(sign) = signs.next() {
            let next = signs.peek().copied().unwrap_or(' ');
            match sign {
                // An underscore within a word has no meaning.
                '_' if before.is_alphanumeric() && next.is_alphanumeric() => f.write_char('_')?,
                '\\' | '`' | '*' | '_' | '|' | '[' | ']' => write!(f, "\\{sign}")?,
                '<' => f.write_str("&lt;")?,
                '&' => f.write_str("&amp;")?,
                '\n' => f.write_char(' ')?,
                _ => f.write_char(sign)?,
            }
            before = sign;
        }
        Ok(())
    }
}

/// Changes belong into the program or into another run.
const DO_NOT_EDIT: &str = "<!-- Written by `diligence bench` from the results of a run. -->";
