//! Tests of a recording with several buses.

use std::path::PathBuf;

use capture::record::{CaptureMethod, EndCause};

use crate::recorder::{CALL, DbusDaemon, OurBus, end_after, ends, read, send, wait_for_recorder};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// Records a Diligence bus and a dbus-daemon, each of which is called three times, in turns.
fn recorded(folder: &ProgramFolder) -> (PathBuf, [String; 2]) {
    let ours = OurBus::start(folder);
    let other_folder = ProgramFolder::new();
    let reference = DbusDaemon::start(&other_folder, "");
    let file = folder.join("both.pcapng");
    let path = file.display().to_string();
    let mut command = folder.diligence();
    command.args(["record", "--session", "--address", &reference.address, "-o", &path]);
    let recorder = SpawnedProgram::start(command.env("DBUS_SESSION_BUS_ADDRESS", &ours.address));
    wait_for_recorder(&file, 2);
    for _ in 0..3 {
        send(&ours.address, &CALL);
        reference.send(&CALL);
    }
    let output = end_after(recorder, &file, "GetId", 6);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stderr).contains("nothing lost"), "{output:?}");
    (file, [ours.address, reference.address.clone()])
}

#[test]
fn two_buses_in_a_recording_share_a_clock() {
    let folder = ProgramFolder::new();
    let (file, addresses) = recorded(&folder);
    let capture = read(&file);
    let buses: Vec<_> =
        capture.buses().iter().map(|bus| (bus.name.as_str(), bus.address.clone())).collect();
    let [ours, reference] = addresses.map(Some);
    assert_eq!(buses, [("session", ours), ("", reference)]);
    assert_eq!(
        capture.buses().iter().map(|bus| bus.method).collect::<Vec<_>>(),
        [CaptureMethod::Trace, CaptureMethod::Monitor]
    );
    assert_eq!(ends(&capture), [EndCause::Asked, EndCause::Asked]);

    let mut calls: Vec<_> = capture
        .messages()
        .filter(|message| message.member() == "GetId" && !message.is_of_recorder())
        .map(|call| (call.at(), call.bus().0, call.partner().map(|reply| reply.bus().0)))
        .collect();
    calls.sort_unstable();
    let turns: Vec<_> = calls.iter().map(|(_, call, reply)| (*call, *reply)).collect();
    let turn = [(0, Some(0)), (1, Some(1))];
    assert_eq!(turns, [turn, turn, turn].concat(), "one began after the other had ended");
}

#[test]
fn two_buses_in_a_recording_are_distinguished() {
    let folder = ProgramFolder::new();
    let (file, _) = recorded(&folder);
    let path = file.display().to_string();
    let calls = |bus: &str| format!("bus:{bus} member:GetId type:method_call");
    for (words, expected) in [
        (["stats", &path, "--by", "bus"], &["\nsession ", "\nbus 1 "][..]),
        (["show", &path, &calls("session"), "--format=json"], &["\"bus\":\"session\""]),
        (["show", &path, &calls("'bus 1'"), "--format=busctl"], &["\n  Bus=bus 1\n"]),
    ] {
        let mut command = folder.diligence();
        let output = SpawnedProgram::start(command.args(words)).ended();
        let lines = text(&output.stdout);
        assert!(output.status.success(), "{words:?}: {output:?}");
        for expected in expected {
            assert!(lines.contains(expected), "{words:?}: {lines}");
        }
        if words[0] == "show" {
            assert_eq!(lines.matches("GetId").count(), 3, "{lines}");
        }
    }
}
