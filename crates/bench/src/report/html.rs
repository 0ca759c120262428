//! Reports as a single HTML page, which includes its style sheet and its plots.

use std::fmt::{self, Display, Write as _};

use super::model::{
    BenchReport, CellTone, MarkedSpan, MarkedText, ReportBlock, ReportCell, ReportColumn,
    ReportSection, ReportTable,
};
use super::palette::Palette;
use super::plot::{self, Plot};
use crate::summary::{OURS, RunSummary};
use crate::wording::distinct;

pub(super) fn page(report: &BenchReport<'_>, summary: &RunSummary) -> String {
    let mut page = HtmlPage { out: String::new(), palette: Palette::new(summary) };
    // Writing to a `String` cannot fail.
    let _ = page.report(report);
    page.out
}

struct HtmlPage {
    out: String,
    palette: Palette,
}

impl HtmlPage {
    fn report(&mut self, report: &BenchReport<'_>) -> fmt::Result {
        let title = HtmlEscaped(report.title);
        write!(
            self.out,
            "{HEAD}<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        )?;
        write!(self.out, "<header>\n<h1>{title}</h1>\n")?;
        self.blocks(&report.introduction)?;
        self.out.push_str("<nav aria-label=\"Sections\">\n<ul>\n");
        for ReportSection { name, title, .. } in &report.sections {
            let (name, title) = (HtmlEscaped(name), HtmlEscaped(title));
            writeln!(self.out, "<li><a href=\"#{name}\">{title}</a></li>")?;
        }
        self.out.push_str("</ul>\n</nav>\n</header>\n<main>\n");
        for ReportSection { name, title, blocks } in &report.sections {
            let (name, title) = (HtmlEscaped(name), HtmlEscaped(title));
            write!(self.out, "<section id=\"{name}\">\n<h2>{title}</h2>\n")?;
            self.blocks(blocks)?;
            self.out.push_str("</section>\n");
        }
        self.out.push_str("</main>\n</body>\n</html>\n");
        Ok(())
    }

    fn blocks(&mut self, blocks: &[ReportBlock<'_>]) -> fmt::Result {
        blocks.iter().try_for_each(|block| self.block(block))
    }

    fn block(&mut self, block: &ReportBlock<'_>) -> fmt::Result {
        match block {
            ReportBlock::Paragraph(text) => writeln!(self.out, "<p>{}</p>", Inline(text)),
            ReportBlock::List(items) => {
                self.out.push_str("<ul>\n");
                for item in items {
                    write!(self.out, "<li>{}", Inline(&item.text))?;
                    if !item.nested.is_empty() {
                        self.out.push_str("<ul>\n");
                        for nested in &item.nested {
                            writeln!(self.out, "<li>{}</li>", Inline(nested))?;
                        }
                        self.out.push_str("</ul>");
                    }
                    self.out.push_str("</li>\n");
                }
                self.out.push_str("</ul>\n");
                Ok(())
            }
            ReportBlock::Table(table) => self.table(table),
            ReportBlock::FoldedTable { title, table } => {
                writeln!(self.out, "<details><summary>{}</summary>", HtmlEscaped(title))?;
                self.table(table)?;
                self.out.push_str("</details>\n");
                Ok(())
            }
            ReportBlock::Commands(lines) => {
                writeln!(self.out, "<pre>{}</pre>", HtmlEscaped(&lines.join("\n")))
            }
            ReportBlock::Plots(plots) => self.plots(plots),
        }
    }

    fn table(&mut self, table: &ReportTable) -> fmt::Result {
        self.out.push_str("<div class=\"scroll\">\n<table>\n<thead>\n<tr>");
        for column in &table.columns {
            match column {
                ReportColumn::Label => self.out.push_str("<th></th>"),
                ReportColumn::Subject(name) => {
                    let (class, name) = (self.palette.look(name).class, HtmlEscaped(name));
                    write!(self.out, "<th class=\"number\"><i class=\"{class}\"></i>{name}</th>")?;
                }
                ReportColumn::Number(title) => {
                    write!(self.out, "<th class=\"number\">{}</th>", HtmlEscaped(title))?;
                }
            }
        }
        self.out.push_str("</tr>\n</thead>\n<tbody>\n");
        for row in &table.rows {
            self.out.push_str("<tr>");
            row.iter()
                .zip(&table.columns)
                .try_for_each(|(cell, column)| self.cell(cell, column))?;
            self.out.push_str("</tr>\n");
        }
        self.out.push_str("</tbody>\n</table>\n</div>\n");
        Ok(())
    }

    fn cell(&mut self, cell: &ReportCell, column: &ReportColumn) -> fmt::Result {
        let ReportCell { text, detail, range, share, tone } = cell;
        let text = HtmlEscaped(text);
        let tone = match tone {
            CellTone::Plain => "",
            CellTone::Best => " best",
            CellTone::Better => " better",
            CellTone::Worse => " worse",
        };
        match column {
            ReportColumn::Label => return write!(self.out, "<th>{text}</th>"),
            ReportColumn::Number(_) => write!(self.out, "<td class=\"number{tone}\"")?,
            ReportColumn::Subject(name) => {
                let ours = if name == OURS { " ours" } else { "" };
                let look = self.palette.look(name).class;
                write!(self.out, "<td class=\"number figure {look}{ours}{tone}\"")?;
            }
        }
        if !range.is_empty() {
            write!(self.out, " title=\"{}\"", HtmlEscaped(range))?;
        }
        if let Some(share) = share {
            write!(self.out, " style=\"--share:{:.0}%\"", share * 100.0)?;
        }
        write!(self.out, ">{text}")?;
        if matches!(column, ReportColumn::Subject(_)) {
            write!(self.out, " <small>{}</small>", HtmlEscaped(detail))?;
        }
        self.out.push_str("</td>");
        Ok(())
    }

    fn plots(&mut self, plots: &[Plot<'_>]) -> fmt::Result {
        let subjects = distinct(plots.iter().flat_map(Plot::subjects));
        if !subjects.is_empty() {
            self.out.push_str("<ul class=\"legend\">\n");
            for subject in subjects {
                let key = plot::key(self.palette.look(subject));
                writeln!(self.out, "<li>{key} {}</li>", HtmlEscaped(subject))?;
            }
            self.out.push_str("</ul>\n");
        }
        let is_wide = plots.iter().any(|plot| matches!(plot, Plot::Timeline { .. }));
        let class = if is_wide { "plots wide" } else { "plots" };
        writeln!(self.out, "<div class=\"{class}\">")?;
        for plot in plots {
            let (title, note) = (plot.title(), plot.note());
            let (title, note) = (HtmlEscaped(&title), HtmlEscaped(&note));
            let svg = plot.svg(&self.palette);
            writeln!(
                self.out,
                "<figure>\n<figcaption><b>{title}</b> <span>{note}</span></figcaption>\n\
                 <div role=\"img\" aria-label=\"{title}, {note}\">{svg}</div>\n</figure>"
            )?;
        }
        self.out.push_str("</div>\n");
        Ok(())
    }
}

/// Formats a text, with its emphasis and code as HTML elements.
struct Inline<'a>(&'a MarkedText);

impl Display for Inline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.iter().try_for_each(|span| match span {
            MarkedSpan::Plain(text) => write!(f, "{}", HtmlEscaped(text)),
            MarkedSpan::Emphasis(text) => write!(f, "<em>{}</em>", HtmlEscaped(text)),
            MarkedSpan::Code(text) => write!(f, "<code>{}</code>", HtmlEscaped(text)),
        })
    }
}

/// Escapes a text for HTML elements and quoted attributes.
#[derive(Clone, Copy)]
pub(super) struct HtmlEscaped<'a>(pub(super) &'a str);

impl Display for HtmlEscaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|sign| match sign {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            _ => f.write_char(sign),
        })
    }
}

const HEAD: &str = "\
<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
";

const STYLE: &str = include_str!("style.css");
