//! Graphs of the traffic between programs.

use std::process::Command;

use capture::record::{BusId, RecordedBus};
use export::write_dot;
use testkit::golden;
use testkit::recording::TestRecording;

use crate::golden_file;
use crate::scene::office;

fn dot(recording: &TestRecording) -> String {
    let mut file = Vec::new();
    write_dot(&recording.capture(), |_| true, &mut file).expect("memory takes all");
    String::from_utf8(file).expect("it is text")
}

#[test]
fn graph_edges_are_calls_and_signals() {
    golden::check(golden_file("office.dot"), &dot(&office()));
}

#[test]
fn graph_signals_lead_to_recorded_recipients() {
    let mut recording = TestRecording::new();
    let bus = |name: &str| RecordedBus { name: name.into(), ..RecordedBus::default() };
    recording.bus(bus("session")).bus(bus("system"));
    recording.process(":1.7", 7, "say \"hi\"").process(":1.8", 8, "panel");
    let copies = [(7, 5, 1), (8, 6, 2)];
    for _ in 0..2 {
        recording.signal(":1.6", "/m org.example.Mail.Changed", &()).delivered(2, &copies);
    }
    recording.signal(":1.6", "/m org.example.Mail.Moved", &()).delivered(2, &[]);
    recording.on(BusId(1)).signal(":1.6", "/m org.example.Mail.Changed", &());
    golden::check(golden_file("buses.dot"), &dot(&recording));
}

#[test]
fn graphs_are_drawn_by_graphviz() {
    for file in ["office.dot", "buses.dot"] {
        let output = Command::new("dot").arg("-Tsvg").arg(golden_file(file)).output();
        let output = output.expect("Graphviz is installed");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}
