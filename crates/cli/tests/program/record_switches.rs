//! Tests of `diligence record --switches`: when processes ran on a processor.

use std::fs;

use capture::Capture;
use capture::record::Fact;
use testkit::recording::TestRecording;

use crate::recorder::{CALL, DbusDaemon, end_after, read, start, wait_until};
use crate::support::{ProgramFolder, text};

#[test]
fn switches_of_the_bus_are_recorded_or_reported_as_unavailable() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &["--switches"]);
    // The recorder connects to the bus before it observes processors.
    wait_until("the first look", || {
        let is_look = |fact: &Fact| matches!(fact, Fact::Ran(_) | Fact::Unwatched { .. });
        Capture::open(&file).is_ok_and(|one| one.facts().iter().any(|(_, _, fact)| is_look(fact)))
    });
    (0..5).for_each(|_| bus.send(&CALL));
    let output = end_after(recorder, &file, "GetId", 5);
    assert!(output.status.success(), "{output:?}");
    let errors = text(&output.stderr);
    let capture = read(&file);
    let facts = || capture.facts().iter().map(|(_, _, fact)| fact);
    let pid = facts().find_map(|fact| match fact {
        Fact::Bus { process } => process.pid,
        _ => None,
    });
    let pid = pid.expect("the process of the bus");
    let ran: Vec<_> = facts()
        .filter_map(|fact| match fact {
            Fact::Ran(ran) if ran.pid == pid => Some(ran),
            _ => None,
        })
        .collect();
    if facts().any(|fact| matches!(fact, Fact::Unwatched { pid: one, .. } if *one == pid)) {
        assert!(ran.is_empty() && errors.contains("cannot be seen"), "{errors}");
        return;
    }
    assert!(errors.contains("switches of ") && errors.contains("; 0 could not"), "{errors}");
    assert!(ran.windows(2).all(|two| two[0].until == two[1].from), "{ran:?}");
    assert!(ran.iter().map(|ran| ran.resumed).sum::<u64>() >= 5, "{ran:?}");
    assert!(ran.iter().any(|ran| !ran.spans.is_empty()), "{ran:?}");
    let printed = folder.diligence().args(["stats", "--by", "switches"]).arg(&file).output();
    let printed = text(&printed.expect("the program exists").stdout);
    assert!(printed.contains(&format!("the bus [{pid}]")), "{printed}");
}

#[test]
fn stats_by_switches_fails_without_recorded_switches() {
    let folder = ProgramFolder::new();
    fs::write(folder.join("a.pcap"), TestRecording::new().pcap()).expect("a writable folder");
    let mut command = folder.diligence();
    let output = command.args(["stats", "--by", "switches", "a.pcap"]).output();
    let output = output.expect("the program exists");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("record --switches"), "{output:?}");
}
