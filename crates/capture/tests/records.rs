//! Parts of recordings: processes, losses, and facts after redaction.

use capture::bodies::{Bodies, Reducer};
use capture::losses::Losses;
use capture::record::{
    BusId, Excerpt, Fact, GapCause, RecordedBus, RecordedProcess, RecordedTime, RecordingGap,
    RecordingRecord,
};

#[test]
fn programs_have_their_usual_names() {
    for (comm, exe, command, expected) in [
        (Some("bash"), Some("/usr/bin/bash"), "bash", Some("bash")),
        (Some("bash"), Some("/usr/bin/bash"), "bash -c ls", Some("bash")),
        (
            Some("xdg-desktop-por"),
            Some("/usr/libexec/xdg-desktop-portal"),
            "",
            Some("xdg-desktop-portal"),
        ),
        (
            Some("xdg-desktop-por"),
            None,
            "/usr/libexec/xdg-desktop-portal -v",
            Some("xdg-desktop-portal"),
        ),
        (Some("xdg-desktop-por"), None, "", Some("xdg-desktop-por")),
        (Some("gvfsd"), Some("/usr/libexec/gvfsd (deleted)"), "", Some("gvfsd")),
        (None, Some("/usr/libexec/gvfsd (deleted)"), "", Some("gvfsd")),
        (
            Some("python3"),
            Some("/usr/bin/python3.11"),
            "python3 /opt/a/indexer.py --fast",
            Some("indexer.py"),
        ),
        (
            Some("python3"),
            Some("/usr/bin/python3.11"),
            "python3 -W error -m dbusmock --template",
            Some("dbusmock"),
        ),
        (Some("python3"), Some("/usr/bin/python3.11"), "python3 -c print()", Some("python3")),
        (Some("python3"), None, "/usr/bin/python3 -u tool", Some("tool")),
        (Some("python3"), Some("/usr/bin/python3.11"), "", Some("python3")),
        // A process that sets its own name.
        (Some("(sd-worker)"), Some("/usr/lib/systemd/systemd"), "", Some("(sd-worker)")),
        (None, None, "python3", None),
    ] {
        let process = RecordedProcess {
            comm: comm.map(str::to_owned),
            exe: exe.map(str::to_owned),
            command: command.split_whitespace().map(str::to_owned).collect(),
            ..RecordedProcess::default()
        };
        assert_eq!(process.program(), expected, "{process:?}");
    }
}

#[test]
fn losses_are_counted_and_described() {
    for (gaps, expected) in [
        (&[][..], "nothing lost"),
        (&[Some(1)], "1 message lost"),
        (&[Some(7), None], "7 messages lost"),
        (&[None], "1 gap, how much is missing is not known"),
        (&[None, Some(0)], "2 gaps, how much is missing is not known"),
    ] {
        let mut losses = Losses::default();
        for &lost in gaps {
            let (at, bus, cause) = (None, BusId(0), GapCause::Overrun);
            losses.learn(&RecordingRecord::Gap(RecordingGap { at, bus, cause, lost }));
        }
        assert_eq!(losses.to_string(), expected);
        assert_eq!(losses.gaps, gaps.len() as u64);
    }
}

fn process(words: &[&str]) -> RecordedProcess {
    let command = words.iter().map(|&word| word.to_owned()).collect();
    RecordedProcess { pid: Some(7), command, ..RecordedProcess::default() }
}

fn rule(rule: &str) -> Fact {
    Fact::Rule { unique: ":1.5".to_owned(), rule: rule.to_owned(), times: 1 }
}

fn described(xml: &str) -> Fact {
    let (name, path) = ("org.example.Mail".to_owned(), "/".to_owned());
    Fact::Introspection { name, path, xml: xml.to_owned() }
}

fn excerpt(query: &str) -> Fact {
    let query = query.to_owned();
    Fact::Excerpt(Excerpt { query, messages: 1, of: 7, ..Excerpt::default() })
}

fn started(failure: Option<&str>) -> Fact {
    Fact::Started { name: "org.example.Mail".to_owned(), failure: failure.map(str::to_owned) }
}

#[test]
fn redacted_facts_keep_names_and_lose_texts() {
    let peer = |words| Fact::Peer { unique: ":1.5".to_owned(), process: Some(process(words)) };
    let bus = |words| Fact::Bus { process: process(words) };
    for (fact, expected) in [
        (peer(&["/bin/mail", "--password", "x"]), Some(peer(&["/bin/mail"]))),
        (peer(&["/bin/mail --password x"]), Some(peer(&["/bin/mail"]))),
        (peer(&[]), Some(peer(&[]))),
        (bus(&["dbus-daemon", "--session"]), Some(bus(&["dbus-daemon"]))),
        (rule("type='signal'"), Some(rule("type='signal'"))),
        (rule("arg0='x'"), None),
        (rule("arg0contains='x'"), None),
        (
            described("<!-- x --><node><node name='x'/></node>"),
            Some(described("<node>\n</node>\n")),
        ),
        (described("x"), None),
        (excerpt("arg0:secret"), Some(excerpt(""))),
        (started(None), Some(started(None))),
        (started(Some("no such file")), Some(started(Some("xxxxxxxxxxxx")))),
    ] {
        let mut reducer = Reducer::new(Bodies::Redacted);
        let record =
            RecordingRecord::Fact { at: RecordedTime(0), bus: BusId(0), fact: fact.clone() };
        let found = reducer.reduce(record).map(|record| match record {
            RecordingRecord::Fact { fact, .. } => fact,
            other => panic!("{other:?}"),
        });
        assert_eq!(found, expected, "{fact:?}");
    }
}

#[test]
fn redacted_filters_lose_arguments() {
    for (filter, expected) in [
        ("type='signal',arg0='x',member='Came'", "type='signal',member='Came'"),
        ("arg0='x'", "redacted"),
        ("udp port 53", "redacted"),
    ] {
        let bus = RecordedBus { filters: vec![filter.to_owned()], ..RecordedBus::default() };
        let mut reducer = Reducer::new(Bodies::Redacted);
        let Some(RecordingRecord::Bus(found)) = reducer.reduce(RecordingRecord::Bus(bus)) else {
            panic!("{filter}")
        };
        assert_eq!(found.filters, [expected]);
    }
}
