//! From samples to figures: what tables, reports and documents show of the records of a run.
//!
//! A [`RunSummary`] holds a [`ScenarioSummary`] for each that was run, which holds a [`CaseComparison`] for each
//! of its cases, which holds a [`SubjectOutcome`] for each subject, which holds a [`Figure`] for each
//! metric: the median over all rounds, and how far the rounds are apart. A [`MetricRow`] is one metric of
//! one comparison, and knows who is the best.

use std::collections::BTreeMap;

use crate::result::{
    Absence, BenchCase, BenchFailure, BenchRecord, BenchRun, BenchSample, Better, Metric, Timeline,
};

/// All that a run measured.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct RunSummary {
    /// In the order in which they appear.
    pub scenarios: Vec<ScenarioSummary>,
}

/// All that was measured in one scenario.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ScenarioSummary {
    /// Its name on the command line.
    pub name: String,
    /// Its subjects, in the order of the run.
    pub subjects: Vec<String>,
    /// Its cases, in the order in which they appear.
    pub comparisons: Vec<CaseComparison>,
    /// When which process had the processor, if that was recorded.
    pub timelines: Vec<Timeline>,
}

/// One case of a scenario, and what became of it under each subject.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CaseComparison {
    pub case: BenchCase,
    /// One for each subject that was tried, in the order in which they appear.
    pub outcomes: Vec<SubjectOutcome>,
}

/// What one subject made of one case, over all rounds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SubjectOutcome {
    /// The name of the subject.
    pub subject: String,
    pub figures: BTreeMap<Metric, Figure>,
    /// Why rounds failed, one for each that did.
    pub failures: Vec<String>,
    /// The mean over the rounds of the share of processor time that others took, from 0 to 1.
    pub disturbance: f64,
}

/// One figure, from all rounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Figure {
    pub median: f64,
    /// Where the middle half of the rounds begins. With up to four rounds, the lowest.
    pub low: f64,
    /// Where the middle half of the rounds ends. With up to four rounds, the highest.
    pub high: f64,
    /// How many rounds there are.
    pub rounds: usize,
}

/// What a subject is in a comparison, which its name tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SubjectRole {
    Ours,
    /// A process in the place of a bus that only reads and writes: what no bus can beat.
    Floor,
    /// The same process with the read buffer of the clients.
    Relay,
    /// No process in between at all.
    Direct,
    Peer,
}

/// One metric of one comparison: a row of a table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct MetricRow<'a> {
    /// The case, with all its outcomes.
    pub comparison: &'a CaseComparison,
    pub metric: Metric,
}

/// The share of processor time that others took during the samples of a run, from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RunNoise {
    /// The mean of all samples.
    pub mean: f64,
    /// The largest share of all samples.
    pub worst: f64,
}

impl RunSummary {
    /// Sums up records, in any order. Several runs count as one run with more rounds.
    pub(crate) fn of(records: &[BenchRecord]) -> Self {
        let mut samples: BTreeMap<SampleKey<'_>, Vec<&BenchSample>> = BTreeMap::new();
        let mut summary = Self::default();
        for record in records {
            match record {
                BenchRecord::Run(_) | BenchRecord::Absence(_) => {}
                BenchRecord::Sample(sample) => {
                    let place = (&*sample.scenario, &sample.case, &*sample.subject);
                    // Takes its place among the others, which are in the order of the records.
                    summary.outcome(place.0, place.1, place.2);
                    samples.entry(place).or_default().push(sample);
                }
                BenchRecord::Failure(failure) => summary.add_failure(failure),
                BenchRecord::Timeline(timeline) => {
                    summary.scenario(&timeline.scenario).timelines.push(timeline.clone());
                }
            }
        }
        summary.add_samples(&samples);
        summary.sort_subjects(&subjects_in_order(records));
        summary
    }

    /// The scenario of a name, if it was run.
    pub(crate) fn find(&self, name: &str) -> Option<&ScenarioSummary> {
        self.scenarios.iter().find(|scenario| scenario.name == name)
    }

    fn add_failure(&mut self, failure: &BenchFailure) {
        let outcome = self.outcome(&failure.scenario, &failure.case, &failure.subject);
        outcome.failures.push(failure.reason.clone());
    }

    fn add_samples(&mut self, samples: &BTreeMap<SampleKey<'_>, Vec<&BenchSample>>) {
        for (&(scenario, case, subject), samples) in samples {
            let outcome = self.outcome(scenario, case, subject);
            outcome.disturbance = mean(samples.iter().map(|sample| sample.disturbance));
            outcome.figures = figures(samples);
        }
    }

    fn sort_subjects(&mut self, order: &[&str]) {
        let place = |name: &str| order.iter().position(|subject| *subject == name);
        for scenario in &mut self.scenarios {
            for outcome in scenario.comparisons.iter().flat_map(|found| &found.outcomes) {
                if !scenario.subjects.contains(&outcome.subject) {
                    scenario.subjects.push(outcome.subject.clone());
                }
            }
            scenario.subjects.sort_by_key(|subject| place(subject));
        }
    }

    fn scenario(&mut self, name: &str) -> &mut ScenarioSummary {
        let is_this = |scenario: &ScenarioSummary| scenario.name == name;
        find_or_push(&mut self.scenarios, is_this, || ScenarioSummary::new(name))
    }

    fn outcome(&mut self, scenario: &str, case: &BenchCase, subject: &str) -> &mut SubjectOutcome {
        self.scenario(scenario).comparison(case).outcome(subject)
    }
}

impl ScenarioSummary {
    fn new(name: &str) -> Self {
        let (subjects, comparisons, timelines) = (Vec::new(), Vec::new(), Vec::new());
        Self { name: name.to_owned(), subjects, comparisons, timelines }
    }

    /// All metrics that were measured, in the order of their definition.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let outcomes = self.comparisons.iter().flat_map(|comparison| &comparison.outcomes);
        let mut metrics: Vec<_> = outcomes.flat_map(|outcome| outcome.figures.keys()).collect();
        metrics.sort_unstable();
        metrics.dedup();
        metrics.into_iter().copied().collect()
    }

    /// The rows of all cases, each with the metrics that any subject has.
    pub(crate) fn rows(&self, metrics: &[Metric]) -> Vec<MetricRow<'_>> {
        self.comparisons.iter().flat_map(|comparison| comparison.rows(metrics)).collect()
    }

    /// Whether each case measures one thing, and not all the same: a list of unlike things.
    pub(crate) fn is_mixed(&self) -> bool {
        let all = self.metrics();
        let one_each = |comparison: &CaseComparison| comparison.rows(&all).count() <= 1;
        all.len() > 1 && self.comparisons.iter().all(one_each)
    }

    fn comparison(&mut self, case: &BenchCase) -> &mut CaseComparison {
        let new = || CaseComparison { case: case.clone(), outcomes: Vec::new() };
        find_or_push(&mut self.comparisons, |comparison| comparison.case == *case, new)
    }
}

impl CaseComparison {
    /// What became of a subject, if it was tried.
    pub(crate) fn find(&self, subject: &str) -> Option<&SubjectOutcome> {
        self.outcomes.iter().find(|outcome| outcome.subject == subject)
    }

    /// A row for each of some metrics that anybody has.
    pub(crate) fn rows(&self, metrics: &[Metric]) -> impl Iterator<Item = MetricRow<'_>> {
        let rows = metrics.iter().map(|&metric| MetricRow { comparison: self, metric });
        rows.filter(MetricRow::has_figures)
    }

    fn outcome(&mut self, subject: &str) -> &mut SubjectOutcome {
        let is_this = |outcome: &SubjectOutcome| outcome.subject == subject;
        find_or_push(&mut self.outcomes, is_this, || SubjectOutcome::new(subject))
    }
}

impl SubjectOutcome {
    fn new(subject: &str) -> Self {
        let (figures, failures) = (BTreeMap::new(), Vec::new());
        Self { subject: subject.to_owned(), figures, failures, disturbance: 0.0 }
    }

    pub(crate) fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }
}

impl Figure {
    /// Sums up the values of all rounds; `None` if there are none.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        let last = values.len().checked_sub(1)?;
        values.sort_unstable_by(f64::total_cmp);
        Some(Self {
            median: f64::midpoint(values[last / 2], values[last.div_ceil(2)]),
            // Outwards to the next round, so that few rounds do not look steadier than they are.
            low: values[last / 4],
            high: values[(last * 3).div_ceil(4)],
            rounds: values.len(),
        })
    }

    /// How far the middle half of the rounds reaches from the median, as a share of it; 0 if the
    /// median is 0.
    pub(crate) fn spread(&self) -> f64 {
        if self.median == 0.0 {
            return 0.0;
        }
        (self.high - self.median).max(self.median - self.low) / self.median.abs()
    }

    pub(crate) fn steadiness(&self) -> Steadiness {
        match self.spread() {
            spread if spread > WILD_SPREAD => Steadiness::Wild,
            spread if spread > LOOSE_SPREAD => Steadiness::Loose,
            _ => Steadiness::Steady,
        }
    }

    /// Whether the middle halves of two figures have anything in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// How steady a figure is over the rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Steadiness {
    /// Its spread is at most [`LOOSE_SPREAD`].
    Steady,
    Loose,
    Wild,
}

impl Steadiness {
    /// The sign behind a figure; empty for a steady one.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Steady => "",
            Self::Loose => "±",
            Self::Wild => "~",
        }
    }
}

impl SubjectRole {
    /// What the subject of a name is.
    pub(crate) fn of(subject: &str) -> Self {
        match subject {
            OURS => Self::Ours,
            "floor" => Self::Floor,
            "relay" => Self::Relay,
            "direct" => Self::Direct,
            _ => Self::Peer,
        }
    }

    /// Whether it does the work of a bus.
    pub(crate) const fn is_bus(self) -> bool {
        matches!(self, Self::Ours | Self::Peer)
    }
}

impl<'a> MetricRow<'a> {
    /// The figure of a subject, if it has one.
    pub(crate) fn figure(&self, subject: &str) -> Option<&'a Figure> {
        self.comparison.find(subject)?.figures.get(&self.metric)
    }

    /// The figure of this project's bus.
    pub(crate) fn ours(&self) -> Option<&'a Figure> {
        self.in_role(SubjectRole::Ours).next().map(|(_, figure)| figure)
    }

    /// The figure of a process that only reads and writes.
    pub(crate) fn floor(&self) -> Option<&'a Figure> {
        self.in_role(SubjectRole::Floor).next().map(|(_, figure)| figure)
    }

    /// The best of the other buses, and its figure.
    pub(crate) fn best_peer(&self) -> Option<(&'a str, &'a Figure)> {
        self.in_role(SubjectRole::Peer).reduce(|best, other| {
            if self.is_better(other.1.median, best.1.median) { other } else { best }
        })
    }

    /// Our figure divided by that of the best other bus; `None` if either is missing, or if the
    /// division tells nothing.
    pub(crate) fn ratio(&self) -> Option<f64> {
        quotient(self.ours()?.median, self.best_peer()?.1.median)
    }

    /// How many times worse our figure is than another: above 1 if it is worse, whichever
    /// direction is the better one. Infinite if the other one is perfect.
    pub(crate) fn times_worse(&self, other: &Figure) -> Option<f64> {
        let ours = self.ours()?.median;
        let (worse, better) = match self.metric.info().better {
            Better::Lower => (ours, other.median),
            Better::Higher => (other.median, ours),
        };
        if worse > 0.0 && better == 0.0 {
            return Some(f64::INFINITY);
        }
        quotient(worse, better)
    }

    /// How near to the floor we are: 1 on it, 0.5 at twice its time or half its rate.
    pub(crate) fn floor_share(&self) -> Option<f64> {
        quotient(1.0, self.times_worse(self.floor()?)?)
    }

    /// Whether a subject is a bus, no other bus is better, and some other is worse.
    pub(crate) fn is_best(&self, subject: &str) -> bool {
        let Some(figure) = self.figure(subject) else { return false };
        let others = || self.buses().filter(|(name, _)| *name != subject);
        SubjectRole::of(subject).is_bus()
            && others().all(|(_, other)| !self.is_better(other.median, figure.median))
            && others().any(|(_, other)| self.is_better(figure.median, other.median))
    }

    /// All who have a figure.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (&'a str, &'a Figure)> + use<'a> {
        let metric = self.metric;
        self.comparison.outcomes.iter().filter_map(move |outcome| {
            Some((outcome.subject.as_str(), outcome.figures.get(&metric)?))
        })
    }

    /// Whether anybody has a figure.
    pub(crate) fn has_figures(&self) -> bool {
        self.figures().next().is_some()
    }

    fn buses(&self) -> impl Iterator<Item = (&'a str, &'a Figure)> + use<'a> {
        self.figures().filter(|(subject, _)| SubjectRole::of(subject).is_bus())
    }

    fn in_role(&self, role: SubjectRole) -> impl Iterator<Item = (&'a str, &'a Figure)> + use<'a> {
        self.figures().filter(move |(subject, _)| SubjectRole::of(subject) == role)
    }

    fn is_better(&self, one: f64, other: f64) -> bool {
        match self.metric.info().better {
            Better::Lower => one < other,
            Better::Higher => one > other,
        }
    }
}

impl RunNoise {
    /// The noise of all samples; `None` if there are none.
    pub(crate) fn of(records: &[BenchRecord]) -> Option<Self> {
        let samples = || {
            records.iter().filter_map(|record| match record {
                BenchRecord::Sample(sample) => Some(sample.disturbance),
                _ => None,
            })
        };
        let worst = samples().reduce(f64::max)?;
        Some(Self { mean: mean(samples()), worst })
    }

    pub(crate) fn verdict(&self) -> &'static str {
        match self.mean {
            mean if mean > NOISY_SHARE => {
                "The machine was noisy: repeat the run before relying on small differences."
            }
            mean if mean > BUSY_SHARE => {
                "The machine was busy: differences of a few percent are not reliable."
            }
            _ => "The machine was quiet.",
        }
    }
}

fn find_or_push<T>(
    items: &mut Vec<T>,
    is_this: impl FnMut(&T) -> bool,
    new: impl FnOnce() -> T,
) -> &mut T {
    let index = items.iter().position(is_this).unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    });
    &mut items[index]
}

/// The runs that records are from: one, unless files were joined.
pub(crate) fn runs(records: &[BenchRecord]) -> impl Iterator<Item = &BenchRun> {
    records.iter().filter_map(|record| match record {
        BenchRecord::Run(run) => Some(run),
        _ => None,
    })
}

/// The buses that were asked for and are not there.
pub(crate) fn absences(records: &[BenchRecord]) -> impl Iterator<Item = &Absence> {
    records.iter().filter_map(|record| match record {
        BenchRecord::Absence(absence) => Some(absence),
        _ => None,
    })
}

/// The rows of one metric, one for each case that has it.
pub(crate) fn rows<'a>(
    comparisons: impl IntoIterator<Item = &'a CaseComparison>,
    metric: Metric,
) -> impl Iterator<Item = MetricRow<'a>> {
    let rows = comparisons.into_iter().map(move |comparison| MetricRow { comparison, metric });
    rows.filter(MetricRow::has_figures)
}

type SampleKey<'a> = (&'a str, &'a BenchCase, &'a str);

fn figures(samples: &[&BenchSample]) -> BTreeMap<Metric, Figure> {
    let mut values: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
    for (metric, value) in samples.iter().flat_map(|sample| &sample.figures) {
        values.entry(*metric).or_default().push(*value);
    }
    let sum_up = |(metric, values)| Some((metric, Figure::of(values)?));
    values.into_iter().filter_map(sum_up).collect()
}

/// The subjects of all runs, then those that only appear in what was measured.
fn subjects_in_order(records: &[BenchRecord]) -> Vec<&str> {
    let announced = runs(records).flat_map(|run| &run.subjects);
    let met = records.iter().filter_map(|record| match record {
        BenchRecord::Sample(sample) => Some(&sample.subject),
        BenchRecord::Failure(failure) => Some(&failure.subject),
        BenchRecord::Run(_) | BenchRecord::Absence(_) | BenchRecord::Timeline(_) => None,
    });
    announced.map(|subject| &subject.name).chain(met).map(String::as_str).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    if count == 0.0 { 0.0 } else { sum / count }
}

fn quotient(dividend: f64, divisor: f64) -> Option<f64> {
    let quotient = dividend / divisor;
    (divisor != 0.0 && quotient.is_finite()).then_some(quotient)
}

/// The name of this project's bus among the subjects.
pub(crate) const OURS: &str = "diligence";

/// The spread above which a figure is marked as loose.
pub(crate) const LOOSE_SPREAD: f64 = 0.10;

/// The spread above which a figure is marked as wild.
pub(crate) const WILD_SPREAD: f64 = 0.25;

/// The mean disturbance above which a machine counts as busy with other work.
const BUSY_SHARE: f64 = 0.02;

/// The mean disturbance above which a machine counts as noisy.
const NOISY_SHARE: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::SubjectInfo;

    const TIME: Metric = Metric::RoundTripUs;
    const RATE: Metric = Metric::MibPerS;

    fn case() -> BenchCase {
        BenchCase::new("8 B", [("size", 8_u64.into())])
    }

    fn sample(subject: &str, metric: Metric, figure: f64) -> BenchRecord {
        BenchRecord::Sample(BenchSample {
            scenario: "s".to_owned(),
            case: case(),
            subject: subject.to_owned(),
            round: 1,
            figures: [(metric, figure)].into(),
            disturbance: figure / 1000.0,
        })
    }

    fn failure(subject: &str) -> BenchRecord {
        BenchRecord::Failure(BenchFailure {
            scenario: "s".to_owned(),
            case: case(),
            subject: subject.to_owned(),
            round: 1,
            reason: "it died".to_owned(),
        })
    }

    fn run(subjects: &[&str]) -> BenchRecord {
        let info = |name: &&str| SubjectInfo {
            name: (*name).to_owned(),
            version: String::new(),
            command: Vec::new(),
        };
        BenchRecord::Run(BenchRun {
            format: crate::result::FORMAT,
            started: 0,
            command: Vec::new(),
            version: String::new(),
            machine: crate::machine::Machine::default(),
            placement: crate::placement::Placement::One,
            rounds: 1,
            subjects: subjects.iter().map(info).collect(),
        })
    }

    #[test]
    fn figures_are_medians_with_the_middle_half() {
        let check = |values: &[f64], low, median, high| {
            let rounds = values.len();
            let expected = Some(Figure { median, low, high, rounds });
            assert_eq!(Figure::of(values.to_vec()), expected, "{values:?}");
        };
        check(&[3.0], 3.0, 3.0, 3.0);
        check(&[4.0, 2.0], 2.0, 3.0, 4.0);
        check(&[9.0, 1.0, 5.0, 6.0], 1.0, 5.5, 9.0);
        check(&[5.0, 4.0, 3.0, 2.0, 1.0], 2.0, 3.0, 4.0);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 3.0, 5.0, 7.0);
        assert_eq!(Figure::of(Vec::new()), None);
    }

    #[test]
    fn the_spread_is_the_longer_way_from_the_median() {
        let check = |values: &[f64], spread: f64, steadiness| {
            let figure = Figure::of(values.to_vec()).unwrap();
            assert!((figure.spread() - spread).abs() < 1e-9, "{values:?} {figure:?}");
            assert_eq!(figure.steadiness(), steadiness, "{values:?}");
        };
        check(&[0.0, 0.0], 0.0, Steadiness::Steady);
        check(&[9.5, 10.0, 10.5], 0.05, Steadiness::Steady);
        check(&[9.5, 10.0, 12.0], 0.2, Steadiness::Loose);
        check(&[5.0, 10.0, 12.0], 0.5, Steadiness::Wild);
    }

    #[test]
    fn rows_know_the_best_and_the_floor() {
        let of = |metric, figures: [f64; 4]| {
            let subjects = ["floor", "diligence", "busd", "dbus-daemon"];
            let pairs = subjects.into_iter().zip(figures);
            let records: Vec<_> =
                pairs.map(|(subject, figure)| sample(subject, metric, figure)).collect();
            let summary = RunSummary::of(&records);
            let row = MetricRow { comparison: &summary.scenarios[0].comparisons[0], metric };
            let best: Vec<_> = subjects.into_iter().filter(|name| row.is_best(name)).collect();
            let peer = row.best_peer().map(|(peer, _)| peer.to_owned());
            (best.join(" "), peer.unwrap_or_default(), row.ratio(), row.floor_share())
        };
        let expected = |best: &str, peer: &str, ratio, share| {
            (best.to_owned(), peer.to_owned(), Some(ratio), Some(share))
        };
        assert_eq!(of(TIME, [10.0, 20.0, 40.0, 80.0]), expected("diligence", "busd", 0.5, 0.5));
        assert_eq!(of(TIME, [10.0, 20.0, 16.0, 80.0]), expected("busd", "busd", 1.25, 0.5));
        assert_eq!(of(RATE, [80.0, 40.0, 20.0, 10.0]), expected("diligence", "busd", 2.0, 0.5));
        assert_eq!(of(RATE, [80.0, 40.0, 20.0, 80.0]), {
            expected("dbus-daemon", "dbus-daemon", 0.5, 0.5)
        });
        // Nobody is the best if all are the same.
        assert_eq!(of(RATE, [100.0; 4]), expected("", "busd", 1.0, 1.0));
    }

    #[test]
    fn zero_is_no_divisor() {
        let records = [sample("diligence", TIME, 5.0), sample("busd", TIME, 0.0)];
        let summary = RunSummary::of(&records);
        let row = MetricRow { comparison: &summary.scenarios[0].comparisons[0], metric: TIME };
        assert_eq!(row.ratio(), None);
        assert_eq!(row.times_worse(row.best_peer().unwrap().1), Some(f64::INFINITY));
    }

    #[test]
    fn failures_and_disturbances_are_counted() {
        let records = [
            failure("busd"),
            sample("busd", TIME, 10.0),
            sample("busd", TIME, 30.0),
            failure("busd"),
        ];
        let summary = RunSummary::of(&records);
        let outcome = summary.scenarios[0].comparisons[0].find("busd").unwrap();
        assert_eq!(outcome.failures, ["it died", "it died"]);
        assert_eq!(outcome.figures[&TIME].rounds, 2);
        assert!((outcome.disturbance - 0.02).abs() < 1e-9);
        let noise = RunNoise::of(&records).unwrap();
        assert!((noise.worst - 0.03).abs() < 1e-9, "{noise:?}");
    }

    #[test]
    fn subjects_stand_in_the_order_of_the_run() {
        let records = [
            run(&["floor", "diligence", "busd"]),
            sample("unix:path=/x", TIME, 1.0),
            sample("busd", TIME, 1.0),
            failure("diligence"),
        ];
        let summary = RunSummary::of(&records);
        assert_eq!(summary.scenarios[0].subjects, ["diligence", "busd", "unix:path=/x"]);
        assert_eq!(RunSummary::of(&[]), RunSummary::default());
    }
}
