//! Plots: figures against a setting, and timelines of processes.

use super::axis::Axis;
use super::palette::{self, Look, Palette};
use super::svg::{Anchor, Svg};
use crate::number;
use crate::result::{CaseSetting, Metric, Timeline};
use crate::scenario_info::ScenarioHeading;
use crate::summary::{CaseComparison, Figure, MetricRow, OURS, ScenarioSummary};
use crate::wording;

/// A plot of some results.
pub(super) enum Plot<'a> {
    Lines(Box<LinePlot<'a>>),
    Timeline {
        timeline: &'a Timeline,
        /// Where the time axis ends, in nanoseconds.
        end: u64,
    },
}

/// A metric against a setting, with a line for each subject.
pub(super) struct LinePlot<'a> {
    metric: Metric,
    setting: &'a str,
    /// The settings that these cases share and others do not; empty if the plot has all cases.
    facet: String,
    /// This project's bus comes last, so that its line is drawn on top.
    series: Vec<(&'a str, Vec<PlotPoint>)>,
    across: Axis,
    up: Axis,
}

#[derive(Clone, Copy)]
struct PlotPoint {
    at: f64,
    figure: Figure,
}

/// Returns a plot for each metric of a scenario whose cases vary in a number.
pub(super) fn lines<'a>(
    heading: &ScenarioHeading<'_>,
    scenario: &'a ScenarioSummary,
) -> Vec<Plot<'a>> {
    let facets = facets(scenario);
    let plots = heading.metrics.iter().flat_map(|metric| {
        facets.iter().filter_map(|facet| LinePlot::new(*metric, facet, &scenario.subjects))
    });
    plots.map(|lines| Plot::Lines(Box::new(lines))).collect()
}

/// Returns the timelines of a scenario. Timelines of the same case have the same scale.
pub(super) fn timelines(scenario: &ScenarioSummary) -> Vec<Plot<'_>> {
    let end = |timeline: &Timeline| {
        let like = scenario.timelines.iter().filter(|other| other.case == timeline.case);
        like.map(end_of).max().unwrap_or(0).max(1)
    };
    let timelines = scenario.timelines.iter();
    timelines.map(|timeline| Plot::Timeline { timeline, end: end(timeline) }).collect()
}

impl Plot<'_> {
    pub(super) fn title(&self) -> String {
        match self {
            Self::Lines(lines) => wording::capitalized(&wording::metric(lines.metric)),
            Self::Timeline { timeline, .. } => {
                format!("{}: {}", timeline.case.label, timeline.subject)
            }
        }
    }

    pub(super) fn note(&self) -> String {
        match self {
            Self::Lines(lines) => {
                let notes = [&*lines.facet, wording::direction(lines.metric), lines.scales()];
                let notes: Vec<_> = notes.into_iter().filter(|note| !note.is_empty()).collect();
                notes.join("; ")
            }
            Self::Timeline { timeline, .. } => {
                let spans: usize = timeline.tracks.iter().map(|track| track.spans.len()).sum();
                let length = number::significant(microseconds(end_of(timeline)));
                format!("processes ran in {spans} intervals within {length} µs")
            }
        }
    }

    /// Returns the subjects that the legend explains.
    pub(super) fn subjects(&self) -> Vec<&str> {
        match self {
            Self::Lines(lines) => lines.series.iter().map(|(subject, _)| *subject).collect(),
            Self::Timeline { .. } => Vec::new(),
        }
    }

    pub(super) fn svg(&self, palette: &Palette) -> String {
        match self {
            Self::Lines(lines) => lines.svg(palette),
            Self::Timeline { timeline, end } => timeline_svg(timeline, *end, palette),
        }
    }
}

/// Draws a piece of a subject's line, for a legend.
pub(super) fn key(look: Look) -> String {
    let mut svg = Svg::new(KEY_SIZE);
    let (width, middle) = (KEY_SIZE.0, KEY_SIZE.1 / 2.0);
    svg.line(&[(0.0, middle), (width, middle)], look.class);
    svg.marker((width / 2.0, middle), look.marker, look.class);
    svg.end()
}

impl<'a> LinePlot<'a> {
    /// Creates a plot; `None` if no case of the facet has the metric.
    fn new(metric: Metric, facet: &Facet<'a>, subjects: &'a [String]) -> Option<Self> {
        let of_subject = |subject: &'a String| {
            let points = facet.comparisons.iter().filter_map(|comparison| {
                let figure = *MetricRow { comparison, metric }.figure(subject)?;
                Some(PlotPoint { at: number_at(comparison, facet.setting)?, figure })
            });
            let mut points: Vec<_> = points.collect();
            points.sort_by(|one, other| one.at.total_cmp(&other.at));
            (!points.is_empty()).then_some((subject.as_str(), points))
        };
        let mut series: Vec<_> = subjects.iter().filter_map(of_subject).collect();
        series.sort_by_key(|(subject, _)| *subject == OURS);
        let points = || series.iter().flat_map(|(_, points)| points);
        let settings: Vec<_> = points().map(|point| point.at).collect();
        let figures: Vec<_> = points().map(|point| point.figure.median).collect();
        let (across, up) = (Axis::of_settings(&settings), Axis::of_figures(&figures));
        let (setting, facet) = (facet.setting, facet.title.clone());
        (!series.is_empty()).then_some(Self { metric, setting, facet, series, across, up })
    }

    /// States which axes are logarithmic; empty if neither is.
    fn scales(&self) -> &'static str {
        match (self.across.is_logarithmic(), self.up.is_logarithmic()) {
            (true, true) => "both scales logarithmic",
            (true, false) => "horizontal scale logarithmic",
            (false, true) => "vertical scale logarithmic",
            (false, false) => "",
        }
    }

    fn svg(&self, palette: &Palette) -> String {
        let (width, height) = SIZE;
        let (left, right) = (MARGIN.left, width - MARGIN.right);
        let (top, bottom) = (MARGIN.top, height - MARGIN.bottom);
        let x = |value: f64| left + self.across.share(value) * (right - left);
        let y = |value: f64| bottom - self.up.share(value) * (bottom - top);
        let mut svg = Svg::new(SIZE);
        for value in &self.up.fine {
            svg.line(&[(left, y(*value)), (right, y(*value))], "grid fine");
        }
        for tick in &self.up.ticks {
            svg.line(&[(left, y(*tick)), (right, y(*tick))], "grid");
            svg.text((left - 6.0, y(*tick)), Anchor::End, &number::short(*tick));
        }
        for tick in &self.across.ticks {
            svg.line(&[(x(*tick), bottom), (x(*tick), bottom + 4.0)], "axis");
            svg.text((x(*tick), bottom + 14.0), Anchor::Middle, &number::short(*tick));
        }
        svg.line(&[(left, top), (left, bottom), (right, bottom)], "axis");
        svg.text((left.midpoint(right), height - 9.0), Anchor::Middle, &axis_title(self.setting));
        for (subject, points) in &self.series {
            let Look { class, marker } = palette.look(subject);
            for PlotPoint { at, figure } in points {
                let ends = [(x(*at), y(figure.low)), (x(*at), y(figure.high))];
                svg.line(&ends, &format!("{class} spread"));
            }
            let path: Vec<_> =
                points.iter().map(|point| (x(point.at), y(point.figure.median))).collect();
            svg.line(&path, class);
            path.iter().for_each(|point| svg.marker(*point, marker, class));
        }
        svg.end()
    }
}

/// Draws a lane for each process, with a bar for each interval in which it ran.
fn timeline_svg(timeline: &Timeline, end: u64, palette: &Palette) -> String {
    let height = timeline.tracks.len() as f64 * LANE_HEIGHT;
    let axis = Axis::of_time(microseconds(end));
    let (start, stop) = (LANE_START, TIMELINE_WIDTH - 30.0);
    let x = |microseconds: f64| start + axis.share(microseconds) * (stop - start);
    let mut svg = Svg::new((TIMELINE_WIDTH, height + 24.0));
    for tick in &axis.ticks {
        svg.line(&[(x(*tick), 0.0), (x(*tick), height)], "grid");
        let label = format!("{} µs", number::short(*tick));
        svg.text((x(*tick), height + 13.0), Anchor::Middle, &label);
    }
    for (index, track) in timeline.tracks.iter().enumerate() {
        let top = index as f64 * LANE_HEIGHT;
        let is_bus = track.name == "bus";
        let look = if is_bus { palette.look(&timeline.subject) } else { palette::FLOOR };
        svg.text((start - 8.0, top + LANE_HEIGHT / 2.0), Anchor::End, &track.name);
        for (from, to) in &track.spans {
            let (from, to) = (x(microseconds(*from)), x(microseconds(*to)));
            // Keeps the shortest interval visible.
            let to = to.max(from + 0.6);
            svg.bar((from, top + 3.0), (to, top + LANE_HEIGHT - 3.0), look.class);
        }
    }
    svg.line(&[(start, height), (stop, height)], "axis");
    svg.end()
}

/// Cases of a scenario that share one plot.
struct Facet<'a> {
    /// The settings that these cases share and others do not: `read buffer 2048`.
    title: String,
    setting: &'a str,
    comparisons: Vec<&'a CaseComparison>,
}

/// If the cases vary in a number with enough values for a line, returns a facet for each
/// combination of the other settings.
fn facets(scenario: &ScenarioSummary) -> Vec<Facet<'_>> {
    let all: Vec<_> = scenario.comparisons.iter().collect();
    let Some(setting) = main_setting(&all).filter(|_| !scenario.is_mixed()) else {
        return Vec::new();
    };
    let mut facets: Vec<Facet<'_>> = Vec::new();
    for comparison in &all {
        let title = other_settings(comparison, setting, &all);
        match facets.iter_mut().find(|facet| facet.title == title) {
            Some(facet) => facet.comparisons.push(comparison),
            None => facets.push(Facet { title, setting, comparisons: vec![comparison] }),
        }
    }
    facets.retain(|facet| value_count(&facet.comparisons, setting) >= POINTS_MIN);
    facets
}

/// Returns the number in which the cases vary most; `None` if none has enough values for a line.
fn main_setting<'a>(comparisons: &[&'a CaseComparison]) -> Option<&'a str> {
    let settings = comparisons.first()?.case.at.keys();
    let numbers = settings
        .filter(|name| comparisons.iter().all(|comparison| number_at(comparison, name).is_some()));
    let most = numbers.rev().max_by_key(|name| value_count(comparisons, name))?;
    (value_count(comparisons, most) >= POINTS_MIN).then_some(most)
}

fn value_count(comparisons: &[&CaseComparison], setting: &str) -> usize {
    let mut values: Vec<_> =
        comparisons.iter().filter_map(|comparison| comparison.case.at.get(setting)).collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

/// Formats the settings of a case in which the cases differ, except `setting`.
fn other_settings(comparison: &CaseComparison, setting: &str, all: &[&CaseComparison]) -> String {
    let varies = |name: &str| {
        let value = comparison.case.at.get(name);
        all.iter().any(|other| other.case.at.get(name) != value)
    };
    let others = comparison.case.at.iter().filter(|(name, _)| *name != setting && varies(name));
    let words: Vec<_> = others
        .map(|(name, value)| match (wording::setting(name), value) {
            (name, CaseSetting::Number(number)) => format!("{name} {number}"),
            (name, CaseSetting::Word(word)) => format!("{name}: {word}"),
        })
        .collect();
    words.join(", ")
}

fn number_at(comparison: &CaseComparison, setting: &str) -> Option<f64> {
    comparison.case.number(setting).map(|number| number as f64)
}

fn axis_title(setting: &str) -> String {
    match setting {
        "size" | "payload" => format!("{}, bytes", wording::setting(setting)),
        _ => wording::setting(setting),
    }
}

/// The time at which the last process of a timeline stopped, in nanoseconds.
fn end_of(timeline: &Timeline) -> u64 {
    let spans = timeline.tracks.iter().flat_map(|track| &track.spans);
    spans.map(|(_, to)| *to).max().unwrap_or(0)
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

struct Margin {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

// All sizes are in pixels.
const SIZE: (f64, f64) = (480.0, 310.0);
const MARGIN: Margin = Margin { left: 50.0, right: 18.0, top: 10.0, bottom: 42.0 };
const KEY_SIZE: (f64, f64) = (30.0, 14.0);
const TIMELINE_WIDTH: f64 = 1000.0;
const LANE_START: f64 = 96.0;
const LANE_HEIGHT: f64 = 19.0;

const POINTS_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{BenchCase, BenchRecord, BenchSample};
    use crate::summary::RunSummary;

    type At = [(&'static str, CaseSetting)];

    fn sample(metric: Metric, at: &At) -> BenchRecord {
        let at = at.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        BenchRecord::Sample(BenchSample {
            scenario: "s".to_owned(),
            case: BenchCase { label: format!("{at:?}"), at },
            subject: "diligence".to_owned(),
            round: 1,
            figures: [(metric, 1.0)].into(),
            disturbance: 0.0,
        })
    }

    fn check(cases: &[(Metric, &At)], expected: &[(&str, &str, usize)]) {
        let samples: Vec<_> = cases.iter().map(|(metric, at)| sample(*metric, at)).collect();
        let scenario = RunSummary::of(&samples).scenarios.remove(0);
        let facets = facets(&scenario);
        let facets: Vec<_> = facets
            .iter()
            .map(|facet| (facet.title.as_str(), facet.setting, facet.comparisons.len()))
            .collect();
        assert_eq!(facets, expected, "{cases:?}");
    }

    #[test]
    fn lines_need_a_number_with_three_values() {
        let at = |value: u64| [("size", CaseSetting::from(value))];
        let time = Metric::RoundTripUs;
        check(&[(time, &at(1)), (time, &at(3)), (time, &at(9))], &[("", "size", 3)]);
        check(&[(time, &at(1)), (time, &at(3))], &[]);
        check(&[(time, &[])], &[]);
        let library = |name: &str| [("library", CaseSetting::from(name))];
        check(&[(time, &library("a")), (time, &library("b")), (time, &library("c"))], &[]);
        // Cases with different metrics are not comparable.
        let rate = Metric::MessagesPerS;
        check(&[(time, &at(1)), (rate, &at(3)), (time, &at(9))], &[]);
    }

    #[test]
    fn other_settings_make_facets() {
        let at = |size: u64, buffer: u64| {
            [("read_buffer", CaseSetting::from(buffer)), ("size", CaseSetting::from(size))]
        };
        let all = [1, 3, 9].map(|size| at(size, 2048));
        let others = [1, 3, 9].map(|size| at(size, 65536));
        let cases: Vec<(Metric, &At)> =
            all.iter().chain(&others).map(|at| (Metric::RoundTripUs, &at[..])).collect();
        check(&cases, &[("read buffer 2048", "size", 3), ("read buffer 65536", "size", 3)]);
        // A facet with one value has no line.
        let lonely = at(1, 1);
        let cases: Vec<(Metric, &At)> =
            all.iter().chain([&lonely]).map(|at| (Metric::RoundTripUs, &at[..])).collect();
        check(&cases, &[("read buffer 2048", "size", 3)]);
    }
}
