//! Reports in Markdown, for the documentation and the README.

use std::fmt::{self, Display, Write as _};

use super::model::{
    BenchReport, CellTone, MarkedSpan, MarkedText, ReportBlock, ReportCell, ReportColumn,
    ReportTable,
};

pub(super) fn report(report: &BenchReport<'_>) -> String {
    let mut parts = vec![format!("# {}\n", report.title), format!("{DO_NOT_EDIT}\n")];
    parts.extend(report.introduction.iter().filter_map(block));
    for section in &report.sections {
        parts.push(format!("## {}\n", MarkdownEscaped(&section.title)));
        parts.extend(section.blocks.iter().filter_map(block));
    }
    parts.join("\n")
}

pub(super) fn blocks(blocks: &[ReportBlock<'_>]) -> String {
    blocks.iter().filter_map(block).collect::<Vec<_>>().join("\n")
}

/// Formats one block, with a newline at its end; `None` if Markdown cannot show it.
fn block(block: &ReportBlock<'_>) -> Option<String> {
    Some(match block {
        ReportBlock::Paragraph(text) => format!("{text}\n"),
        ReportBlock::List(items) => {
            let mut list = String::new();
            for item in items {
                let _ = writeln!(list, "- {}", item.text);
                for nested in &item.nested {
                    let _ = writeln!(list, "  - {nested}");
                }
            }
            list
        }
        ReportBlock::Table(table) => table.to_string(),
        ReportBlock::FoldedTable { title, table } => {
            let title = MarkdownEscaped(title);
            format!("<details><summary>{title}</summary>\n\n{table}\n</details>\n")
        }
        ReportBlock::Commands(lines) => format!("```sh\n{}\n```\n", lines.join("\n")),
        ReportBlock::Plots(_) => return None,
    })
}

impl Display for MarkedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|span| match span {
            MarkedSpan::Plain(text) => write!(f, "{}", MarkdownEscaped(text)),
            MarkedSpan::Emphasis(text) => write!(f, "*{}*", MarkdownEscaped(text)),
            MarkedSpan::Code(text) => write!(f, "`{text}`"),
        })
    }
}

impl Display for ReportTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for column in &self.columns {
            match column {
                ReportColumn::Label => f.write_str("| ")?,
                ReportColumn::Subject(title) => write!(f, "| {} ", MarkdownEscaped(title))?,
                ReportColumn::Number(title) => write!(f, "| {} ", MarkdownEscaped(title))?,
            }
        }
        f.write_str("|\n")?;
        for column in &self.columns {
            f.write_str(if matches!(column, ReportColumn::Label) { "| --- " } else { "| ---: " })?;
        }
        f.write_str("|\n")?;
        for row in &self.rows {
            row.iter().try_for_each(|cell| write!(f, "| {cell} "))?;
            f.write_str("|\n")?;
        }
        Ok(())
    }
}

impl Display for ReportCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = MarkdownEscaped(&self.text);
        match self.tone {
            CellTone::Best => write!(f, "**{text}**")?,
            CellTone::Plain | CellTone::Better | CellTone::Worse => write!(f, "{text}")?,
        }
        if self.detail.is_empty() {
            Ok(())
        } else {
            write!(f, " {}", MarkdownEscaped(&self.detail))
        }
    }
}

/// Escapes a text for Markdown.
struct MarkdownEscaped<'a>(&'a str);

impl Display for MarkdownEscaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = ' ';
        let mut signs = self.0.chars().peekable();
        while let Some(sign) = signs.next() {
            let next = signs.peek().copied().unwrap_or(' ');
            match sign {
                // An underscore within a word needs no escape.
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

/// The note that tells readers not to edit the document by hand.
const DO_NOT_EDIT: &str = "<!-- Written by `diligence bench` from the results of a run. -->";
