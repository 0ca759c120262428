//! OpenMetrics text ([version 1.0](https://prometheus.io/docs/specs/om/open_metrics_spec/)).

use std::fmt::{Display, Write as _};

/// An OpenMetrics text that is being written.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
}

/// The type of a metric family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MetricKind {
    /// A value that only grows.
    Counter,
    /// A value that grows and shrinks.
    Gauge,
    /// Text in labels; the value is always 1.
    Info,
}

/// The metadata of a metric family.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricFamily {
    /// The name, which ends in the unit, if there is one.
    pub(super) name: &'static str,
    pub(super) kind: MetricKind,
    /// The unit of the values.
    pub(super) unit: Option<&'static str>,
    /// The help text for people.
    pub(super) help: &'static str,
}

/// The labels that distinguish a sample from others of its family.
pub(super) type Labels<'l> = &'l [(&'static str, &'l str)];

impl Text {
    /// Begins a family; its samples follow.
    pub(super) fn family(&mut self, family: MetricFamily) -> Samples<'_> {
        let MetricFamily { name, kind, unit, help } = family;
        let kind_name = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Info => "info",
        };
        self.line(format_args!("# TYPE {name} {kind_name}"));
        if let Some(unit) = unit {
            debug_assert!(name.ends_with(unit), "the unit of {name} is {unit}");
            self.line(format_args!("# UNIT {name} {unit}"));
        }
        self.line(format_args!("# HELP {name} {help}"));
        Samples { text: self, family }
    }

    /// Returns the complete text.
    pub(super) fn finish(mut self) -> String {
        self.line("# EOF");
        self.text
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }
}

/// Appends the samples of one family.
#[derive(Debug)]
pub(super) struct Samples<'t> {
    text: &'t mut Text,
    family: MetricFamily,
}

impl Samples<'_> {
    /// Adds a sample without labels.
    pub(super) fn sample(&mut self, value: impl Display) {
        self.labeled(&[], value);
    }

    /// Adds a sample with labels.
    pub(super) fn labeled(&mut self, labels: Labels<'_>, value: impl Display) {
        let suffix = match self.family.kind {
            MetricKind::Counter => "_total",
            MetricKind::Gauge => "",
            MetricKind::Info => "_info",
        };
        let text = &mut self.text.text;
        text.push_str(self.family.name);
        text.push_str(suffix);
        push_labels(text, labels);
        let _ = writeln!(text, " {value}");
    }
}

fn push_labels(text: &mut String, labels: Labels<'_>) {
    let mut before = '{';
    for (name, value) in labels {
        text.push(before);
        text.push_str(name);
        text.push_str("=\"");
        push_escaped(text, value);
        text.push('"');
        before = ',';
    }
    if !labels.is_empty() {
        text.push('}');
    }
}

fn push_escaped(text: &mut String, value: &str) {
    for character in value.chars() {
        match character {
            '\n' => text.push_str("\\n"),
            '"' | '\\' => text.extend(['\\', character]),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_family_has_metadata_and_samples() {
        let mut text = Text::default();
        let (kind, unit, help) = (MetricKind::Counter, Some("bytes"), "Bytes that came.");
        let mut samples = text.family(MetricFamily { name: "x_bytes", kind, unit, help });
        samples.sample(7);
        samples.labeled(&[("a", "b"), ("c", "quo\"te \\ line\nbreak")], 8);
        let (kind, unit, help) = (MetricKind::Gauge, None, "Level.");
        text.family(MetricFamily { name: "y", kind, unit, help }).sample(0.5);
        let expected = "# TYPE x_bytes counter\n# UNIT x_bytes bytes\n# HELP x_bytes Bytes that came.\n\
                        x_bytes_total 7\nx_bytes_total{a=\"b\",c=\"quo\\\"te \\\\ line\\nbreak\"} 8\n\
                        # TYPE y gauge\n# HELP y Level.\ny 0.5\n# EOF\n";
        assert_eq!(text.finish(), expected);
    }
}
