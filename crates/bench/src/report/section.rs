//! The section of a scenario: its plots, its tables, its timelines.

use maud::{Markup, PreEscaped, html};

use super::layout::{Facet, Layout, Shape};
use super::palette::Palette;
use super::plot::{self, Bars, Fault, Lines};
use super::tables::{Label, failures, table};
use crate::conclusions::conclusions;
use crate::result::{Metric, Timeline};
use crate::scenario_info::Heading;
use crate::show::{number, words};
use crate::summary::{Scenario, rows};

/// The section of a scenario.
pub(super) fn section(
    heading: &Heading<'_>,
    scenario: &Scenario,
    palette: &Palette,
) -> Result<Markup, Fault> {
    let section = Section { heading, scenario, palette };
    let content = match Layout::of(scenario) {
        Layout::Mixed => section.mixed()?,
        Layout::Facets(facets) => section.by_metric(&facets)?,
    };
    Ok(html! {
        section id=(heading.name) {
            h2 { (heading.title) }
            @if !heading.about.is_empty() { p.about { (heading.about) } }
            (section.conclusions())
            (content)
            (section.timelines()?)
            (failures(scenario))
        }
    })
}

/// What all parts of a section are made from.
struct Section<'a> {
    heading: &'a Heading<'a>,
    scenario: &'a Scenario,
    palette: &'a Palette,
}

impl Section<'_> {
    fn conclusions(&self) -> Markup {
        let sentences = conclusions(self.heading, self.scenario);
        html! {
            @if !sentences.is_empty() {
                ul.conclusions { @for sentence in sentences { li { (sentence) } } }
            }
        }
    }

    /// A table of all rows, then bars for each.
    fn mixed(&self) -> Result<Markup, Fault> {
        let comparisons = self.scenario.comparisons.iter();
        let rows: Vec<_> =
            comparisons.flat_map(|comparison| comparison.rows(&self.heading.metrics)).collect();
        let figures = rows
            .iter()
            .map(|row| {
                let svg = Bars::of_one(*row, &self.scenario.subjects).draw(self.palette)?;
                let direction = words::direction(row.metric.info().better);
                let note = format!("{}; {direction}", words::metric(row.metric));
                Ok(figure(&row.comparison.case.label, &note, &svg))
            })
            .collect::<Result<Vec<_>, Fault>>()?;
        Ok(html! {
            (table(&rows, self.scenario, Label::CaseAndMetric, self.palette))
            div.plots.narrow { @for figure in figures { (figure) } }
        })
    }

    /// The plots of all metrics, then their tables, of which the first is open.
    fn by_metric(&self, facets: &[Facet<'_>]) -> Result<Markup, Fault> {
        let mut plots = Vec::new();
        for metric in &self.heading.metrics {
            for facet in facets {
                plots.extend(self.facet(*metric, facet)?);
            }
        }
        let has_lines = facets.iter().any(|facet| facet.shape != Shape::Bars);
        Ok(html! {
            @if has_lines { (self.legend()?) }
            div.plots { @for plot in plots { (plot) } }
            @for (index, metric) in self.heading.metrics.iter().enumerate() {
                details open[index == 0] {
                    summary { (words::capitalised(&words::metric(*metric))) }
                    (self.metric_table(*metric))
                }
            }
        })
    }

    /// The plot of a metric; `None` if none of the facet's cases has it.
    fn facet(&self, metric: Metric, facet: &Facet<'_>) -> Result<Option<Markup>, Fault> {
        let subjects = &self.scenario.subjects;
        let rows: Vec<_> = rows(facet.comparisons.iter().copied(), metric).collect();
        if rows.is_empty() {
            return Ok(None);
        }
        let (svg, scale) = match facet.shape {
            Shape::Lines(setting) => {
                let lines = Lines::new(metric, setting, &facet.comparisons, subjects);
                (lines.draw(self.palette)?, lines.scales())
            }
            Shape::Bars => {
                let bars = Bars::new(rows, subjects);
                (bars.draw(self.palette)?, bars.scaling().told())
            }
        };
        let title = words::capitalised(&words::metric(metric));
        let notes = [&*facet.title, words::direction(metric.info().better), scale];
        let notes: Vec<_> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        Ok(Some(figure(&title, &notes.join("; "), &svg)))
    }

    fn metric_table(&self, metric: Metric) -> Markup {
        let rows: Vec<_> = rows(&self.scenario.comparisons, metric).collect();
        table(&rows, self.scenario, Label::Case, self.palette)
    }

    fn timelines(&self) -> Result<Markup, Fault> {
        let figures = self
            .scenario
            .timelines
            .iter()
            .map(|timeline| {
                let end = end_of_like(timeline, self.scenario);
                let svg = plot::timeline(timeline, end, self.palette)?;
                let title = format!("{}: {}", timeline.case.label, timeline.subject);
                Ok(figure(&title, &told(timeline), &svg))
            })
            .collect::<Result<Vec<_>, Fault>>()?;
        Ok(html! {
            @if !figures.is_empty() {
                h3 { "Who had the processor when" }
                @for figure in figures { div.wide { (figure) } }
            }
        })
    }

    fn legend(&self) -> Result<Markup, Fault> {
        let key = |subject| Ok((subject, plot::key(self.palette.look(subject))?));
        let keys = self.scenario.subjects.iter().map(|subject| key(subject));
        let keys = keys.collect::<Result<Vec<_>, Fault>>()?;
        Ok(html! {
            ul.legend {
                @for (subject, key) in keys {
                    li { span.key aria-hidden="true" { (PreEscaped(key)) } (subject) }
                }
            }
        })
    }
}

/// What a timeline shows, in words.
fn told(timeline: &Timeline) -> String {
    let spans: usize = timeline.tracks.iter().map(|track| track.spans.len()).sum();
    let microseconds = number::significant(end(timeline) as f64 / 1000.0);
    format!("the processor was given {spans} times in {microseconds} µs")
}

/// When the longest of all timelines of the same case ends.
fn end_of_like(timeline: &Timeline, scenario: &Scenario) -> u64 {
    let like = scenario.timelines.iter().filter(|other| other.case == timeline.case);
    like.map(end).max().unwrap_or(0).max(1)
}

fn end(timeline: &Timeline) -> u64 {
    let spans = timeline.tracks.iter().flat_map(|track| &track.spans);
    spans.map(|(_, to)| *to).max().unwrap_or(0)
}

fn figure(title: &str, note: &str, svg: &str) -> Markup {
    html! {
        figure {
            figcaption { b { (title) } " " span.note { (note) } }
            div.plot role="img" aria-label={ (title) ", " (note) } { (PreEscaped(svg)) }
        }
    }
}
