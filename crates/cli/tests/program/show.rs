//! `diligence show`: what it prints, and how it ends.

use std::fs;

use diligence_testkit::golden;
use diligence_testkit::recording::Recording;

use crate::scene::{check_refused, golden_file, office, run, session};

#[test]
fn messages_look_as_the_tools_print_them() {
    let forms = ["busctl", "gdbus", "dbus-send", "json"];
    let lines =
        forms.map(|form| format!("show office.pcapng number<=2_or_type:error --format {form}"));
    golden::check(golden_file("show.txt"), &session(&office(), &lines));
}

#[test]
fn commands_send_the_like() {
    let programs = ["busctl", "gdbus", "dbus-send", "python", "match-rule"];
    let query = "number=2_or_number=9";
    let lines =
        programs.map(|program| format!("show office.pcapng {query} --as-command {program}"));
    golden::check(golden_file("show-as-command.txt"), &session(&office(), &lines));
}

#[test]
fn what_has_no_command_is_told_and_the_rest_printed() {
    let folder = office();
    let mut recording = Recording::new();
    recording.signal(":1.6", "/mail org.example.Mail.Changed", &("x".repeat(99),)).cut(150);
    recording.signal(":1.6", "/mail org.example.Mail.Told", &());
    fs::write(folder.join("cut.pcap"), recording.pcap()).expect("the folder is ours");
    let printed = run(&folder, "show cut.pcap --as-command busctl");
    assert_eq!(printed.stdout, "busctl --user emit /mail org.example.Mail Told\n");
    assert_eq!(printed.status, Some(1));
    let said = "message 1: it is cut, redacted or invalid, so its arguments are not known\n\
                diligence show: 1 message cannot be written as such a command\n";
    assert_eq!(printed.stderr, said);
}

#[test]
fn what_cannot_be_shown_is_explained() {
    check_refused(
        &office(),
        &[
            ("show gone.pcap", 1, "diligence show: cannot read gone.pcap: "),
            ("show office.pcapng colour:red", 2, "the query: "),
            (
                "show office.pcapng --format xml",
                2,
                "possible values: busctl, gdbus, dbus-send, json",
            ),
            ("show office.pcapng --as-command perl", 2, "possible values: busctl, gdbus, "),
            ("show office.pcapng --format json --as-command gdbus", 2, "cannot be used with"),
            ("show", 2, "<FILE>"),
        ],
    );
}
