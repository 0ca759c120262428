//! Tables, documents and the page from the results of a run.
//!
//! The results in `data/run.jsonl` are invented. They contain a failure, a missing bus, a subject
//! that is absent from a scenario, figures with a large spread, and a timeline.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use bench::report::{TableStyle, html, markdown, summary_table, text};
use bench::result::{self, BenchCase, BenchFailure, BenchRecord, BenchSample, Metric};
use bench::scenario_info::ScenarioInfo;
use testkit::golden;

const INFOS: [ScenarioInfo; 4] = [
    ScenarioInfo {
        name: "compare",
        title: "Side by side",
        about: "One row of each scenario: what a bus costs, and how near it is to the floor.",
        metrics: &[
            Metric::RoundTripUs,
            Metric::BurstUs,
            Metric::MessagesPerS,
            Metric::MibPerS,
            Metric::CallsPerS,
            Metric::ConnectUs,
            Metric::BytesPerConnection,
        ],
    },
    ScenarioInfo {
        name: "ping-pong",
        title: "Sequential calls",
        about: "A client calls a service and waits, with messages of all sizes.",
        metrics: &[Metric::RoundTripUs, Metric::MibPerS, Metric::RoundTripP99Us],
    },
    ScenarioInfo {
        name: "fan-out",
        title: "Signals to many recipients",
        about: "A sender emits signals at once, and waits until the last recipient has the last.",
        metrics: &[Metric::BurstUs, Metric::BusSwitches, Metric::RecipientSwitches],
    },
    ScenarioInfo {
        name: "connect",
        title: "Connections and names",
        about: "How long it takes to be on the bus, and to have a name.",
        metrics: &[Metric::ConnectUs],
    },
];

fn data(name: &str) -> impl AsRef<Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn records() -> Vec<BenchRecord> {
    let file = File::open(data("run.jsonl")).expect("the results are there");
    result::read(BufReader::new(file)).expect("they are results")
}

#[test]
fn tables_on_a_terminal() {
    let text = text(&records(), &INFOS, TableStyle::Plain);
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest <= 100, "{longest} columns\n{text}");
    golden::check(data("tables.txt"), &text);
}

#[test]
fn the_document() {
    golden::check(data("benchmarks.md"), &markdown(&records(), &INFOS));
}

#[test]
fn summary_tables() {
    let table = |scenario| summary_table(&records(), &INFOS, scenario);
    golden::check(data("compare.md"), &table("compare").unwrap());
    golden::check(data("fan-out.md"), &table("fan-out").unwrap());
    assert_eq!(table("idle"), None);
}

#[test]
fn the_page_has_every_scenario_and_metric() {
    let page = html(&records(), &INFOS);
    for info in &INFOS {
        assert!(page.contains(&format!("<section id=\"{}\">", info.name)), "{}", info.name);
        assert!(page.contains(&format!("<a href=\"#{}\">", info.name)), "{}", info.name);
        assert!(page.contains(info.title) && page.contains(info.about), "{}", info.name);
    }
    for text in ["MiB/s", "Bus context switches", "recipient 10", "kdbus", "AMD EPYC 9754"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn the_page_loads_nothing() {
    let page = html(&records(), &INFOS).replace("http://www.w3.org/2000/svg", "");
    for text in ["http:", "https:", "src=", "url(", "@import", "<script", "<link"] {
        assert!(!page.contains(text), "{text}");
    }
    for (start, _) in page.match_indices("href=\"") {
        assert!(page[start..].starts_with("href=\"#"), "{}", &page[start..start + 40]);
    }
}

#[test]
fn the_page_is_well_formed() {
    check_nesting(&html(&records(), &INFOS));
    check_nesting(&html(&[], &INFOS));
}

#[test]
fn texts_mean_nothing_on_the_page_nor_in_the_document() {
    let evil = "<b>\"&'|`*";
    let case = BenchCase::new(evil, [("a", 1_u64.into())]);
    let (scenario, subject) = (evil.to_owned(), evil.to_owned());
    let figures = [(Metric::RoundTripUs, 1.0)].into();
    let failure = BenchFailure {
        scenario: scenario.clone(),
        case: case.clone(),
        subject: subject.clone(),
        round: 2,
        reason: evil.to_owned(),
    };
    let sample = BenchSample { scenario, case, subject, round: 1, figures, disturbance: 0.0 };
    let records = [BenchRecord::Sample(sample), BenchRecord::Failure(failure)];
    let page = html(&records, &[]);
    assert!(!page.contains("<b>\""), "{page}");
    check_nesting(&page);
    let document = markdown(&records, &[]);
    assert!(!document.contains("<b>") && !document.contains("'|"), "{document}");
}

/// Panics unless all elements of the page are properly nested and closed.
fn check_nesting(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let tags = page.split('<').skip(1).map(|rest| rest.split_once('>').expect("a tag ends").0);
    for tag in tags.filter(|tag| !tag.starts_with('!')) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') && !["meta", "br"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}
