//! Summaries of the records of a run, for tables, reports and documents.
//!
//! A [`RunSummary`] holds a [`ScenarioSummary`] for each scenario, which holds a [`CaseComparison`]
//! for each case, which holds a [`SubjectOutcome`] for each subject, which holds a [`Figure`] for
//! each metric: the median over all rounds, and their spread. A [`MetricRow`] is one metric of one
//! comparison, and determines the best subject.

use std::collections::BTreeMap;

use crate::result::{
    Absence, BenchCase, BenchFailure, BenchRecord, BenchRun, BenchSample, Better, Metric, Timeline,
};

/// The summary of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct RunSummary {
    /// The scenarios, in the order in which they appear.
    pub scenarios: Vec<ScenarioSummary>,
}

/// The summary of one scenario.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ScenarioSummary {
    /// The name on the command line.
    pub name: String,
    /// The subjects, in the order of the run.
    pub subjects: Vec<String>,
    /// The cases, in the order in which they appear.
    pub comparisons: Vec<CaseComparison>,
    /// The intervals in which each process ran, if they were recorded.
    pub timelines: Vec<Timeline>,
}

/// One case of a scenario, with its outcome for each subject.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CaseComparison {
    pub case: BenchCase,
    /// One outcome per measured subject, in the order in which they appear.
    pub outcomes: Vec<SubjectOutcome>,
}

/// The outcome of one case for one subject, over all rounds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SubjectOutcome {
    /// The name of the subject.
    pub subject: String,
    pub figures: BTreeMap<Metric, Figure>,
    /// The reason of each failed round.
    pub failures: Vec<String>,
    /// The mean share of processor time that other processes took, from 0 to 1.
    pub disturbance: f64,
}

/// One figure, summarized over all rounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Figure {
    pub median: f64,
    /// The lower bound of the middle half of the rounds; with up to four rounds, the minimum.
    pub low: f64,
    /// The upper bound of the middle half of the rounds; with up to four rounds, the maximum.
    pub high: f64,
    /// The number of rounds with this figure.
    pub rounds: usize,
}

/// The role of a subject in a comparison, determined by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SubjectRole {
    Ours,
    /// A process in place of a bus that only reads and writes: a lower bound for any bus.
    Floor,
    /// The same process with the read buffer of the clients.
    Relay,
    /// A direct socket without a process in between.
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

/// The share of processor time that other processes took during the samples of a run, from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RunNoise {
    /// The mean over all samples.
    pub mean: f64,
    /// The maximum over all samples.
    pub worst: f64,
}

impl RunSummary {
    /// Summarizes records, in any order. Several runs are joined into a run with more rounds.
    pub(crate) fn of(records: &[BenchRecord]) -> Self {
        let mut samples: BTreeMap<SampleKey<'_>, Vec<&BenchSample>> = BTreeMap::new();
        let mut summary = Self::default();
        for record in records {
            match record {
                BenchRecord::Run(_) | BenchRecord::Absence(_) => {}
                BenchRecord::Sample(sample) => {
                    let place = (&*sample.scenario, &sample.case, &*sample.subject);
                    // Creates the outcome now, so that outcomes keep the order of the records.
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

    /// Returns the scenario with this name, if it was run.
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

    /// Returns all metrics that were measured, in the order of their definition.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let outcomes = self.comparisons.iter().flat_map(|comparison| &comparison.outcomes);
        let mut metrics: Vec<_> = outcomes.flat_map(|outcome| outcome.figures.keys()).collect();
        metrics.sort_unstable();
        metrics.dedup();
        metrics.into_iter().copied().collect()
    }

    /// Returns the rows of all cases, each with the metrics that any subject has.
    pub(crate) fn rows(&self, metrics: &[Metric]) -> Vec<MetricRow<'_>> {
        self.comparisons.iter().flat_map(|comparison| comparison.rows(metrics)).collect()
    }

    /// True if each case has a single metric, and not all cases have the same one: a list of
    /// different workloads.
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
    /// Returns the outcome of a subject, if it was measured.
    pub(crate) fn find(&self, subject: &str) -> Option<&SubjectOutcome> {
        self.outcomes.iter().find(|outcome| outcome.subject == subject)
    }

    /// Returns a row for each of the metrics for which any subject has a figure.
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
    /// Summarizes the values of all rounds; `None` if there are none.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        let last = values.len().checked_sub(1)?;
        values.sort_unstable_by(f64::total_cmp);
        Some(Self {
            median: f64::midpoint(values[last / 2], values[last.div_ceil(2)]),
            // The quartiles are rounded outward, so that few rounds do not look steadier than they
            // are.
            low: values[last / 4],
            high: values[(last * 3).div_ceil(4)],
            rounds: values.len(),
        })
    }

    /// The largest distance of the middle half of the rounds from the median, as a share of the
    /// median; 0 if the median is 0.
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

    /// True if the middle halves of two figures overlap.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// The steadiness of a figure over the rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Steadiness {
    /// The spread is at most [`LOOSE_SPREAD`].
    Steady,
    Loose,
    Wild,
}

impl Steadiness {
    /// The sign after a figure; empty for a steady one.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Steady => "",
            Self::Loose => "±",
            Self::Wild => "~",
        }
    }
}

impl SubjectRole {
    /// Returns the role of the subject with this name.
    pub(crate) fn of(subject: &str) -> Self {
        match subject {
            OURS => Self::Ours,
            "floor" => Self::Floor,
            "relay" => Self::Relay,
            "direct" => Self::Direct,
            _ => Self::Peer,
        }
    }

    /// True if the subject is a bus.
    pub(crate) const fn is_bus(self) -> bool {
        matches!(self, Self::Ours | Self::Peer)
    }
}

impl<'a> MetricRow<'a> {
    /// Returns the figure of a subject, if it has one.
    pub(crate) fn figure(&self, subject: &str) -> Option<&'a Figure> {
        self.comparison.find(subject)?.figures.get(&self.metric)
    }

    /// Returns the figure of this project's bus.
    pub(crate) fn ours(&self) -> Option<&'a Figure> {
        self.in_role(SubjectRole::Ours).next().map(|(_, figure)| figure)
    }

    /// Returns the figure of the process that only reads and writes.
    pub(crate) fn floor(&self) -> Option<&'a Figure> {
        self.in_role(SubjectRole::Floor).next().map(|(_, figure)| figure)
    }

    /// Returns the best of the other buses, and its figure.
    pub(crate) fn best_peer(&self) -> Option<(&'a str, &'a Figure)> {
        self.in_role(SubjectRole::Peer).reduce(|best, other| {
            if self.is_better(other.1.median, best.1.median) { other } else { best }
        })
    }

    /// Our figure divided by the figure of the best other bus; `None` if either is missing, or if
    /// the ratio is meaningless.
    pub(crate) fn ratio(&self) -> Option<f64> {
        quotient(self.ours()?.median, self.best_peer()?.1.median)
    }

    /// Returns the factor by which our figure is worse than another: above 1 if it is worse,
    /// whether lower or higher is better. Infinite if the other figure is perfect.
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

    /// Our distance to the floor: 1 means equal, 0.5 means twice its time or half its rate.
    pub(crate) fn floor_share(&self) -> Option<f64> {
        quotient(1.0, self.times_worse(self.floor()?)?)
    }

    /// True if a subject is a bus, no other bus is better, and some other bus is worse.
    pub(crate) fn is_best(&self, subject: &str) -> bool {
        let Some(figure) = self.figure(subject) else { return false };
        let others = || self.buses().filter(|(name, _)| *name != subject);
        SubjectRole::of(subject).is_bus()
            && others().all(|(_, other)| !self.is_better(other.median, figure.median))
            && others().any(|(_, other)| self.is_better(figure.median, other.median))
    }

    /// Returns all subjects that have a figure, with their figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (&'a str, &'a Figure)> + use<'a> {
        let metric = self.metric;
        self.comparison.outcomes.iter().filter_map(move |outcome| {
            Some((outcome.subject.as_str(), outcome.figures.get(&metric)?))
        })
    }

    /// True if any subject has a figure.
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
    /// Computes the noise of all samples; `None` if there are none.
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

/// Returns the runs of the records: one, unless files were joined.
pub(crate) fn runs(records: &[BenchRecord]) -> impl Iterator<Item = &BenchRun> {
    records.iter().filter_map(|record| match record {
        BenchRecord::Run(run) => Some(run),
        _ => None,
    })
}

/// Returns the requested buses and libraries that are not installed.
pub(crate) fn absences(records: &[BenchRecord]) -> impl Iterator<Item = &Absence> {
    records.iter().filter_map(|record| match record {
        BenchRecord::Absence(absence) => Some(absence),
        _ => None,
    })
}

/// Returns the rows of one metric, one for each case that has it.
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

/// Returns the subjects of all runs, then subjects that appear only in samples and failures.
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

/// The mean disturbance above which a machine counts as busy.
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
    fn spread_is_the_largest_distance_from_the_median() {
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
        // If all figures are equal, no subject is the best.
        assert_eq!(of(RATE, [100.0; 4]), expected("", "busd", 1.0, 1.0));
    }

    #[test]
    fn ratios_to_zero_are_absent() {
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
    fn subjects_keep_the_order_of_the_run() {
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
