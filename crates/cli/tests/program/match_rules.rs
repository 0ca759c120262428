//! Many duplicate match rules, as dbus-glib once added them for Telepathy. `stats` and `lint` must
//! count them after the program has left, in recordings of both buses.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use client::Connection;
use rustix::process::Signal;

use crate::recorder::{read, start, wait_until};
use crate::support::{ProgramFolder, SpawnedProgram, text};

const RULES: usize = 628;
const DISTINCT: usize = 25;
const DRIVER: &str = "org.freedesktop.DBus";

/// Returns the rules in the order in which the program adds them. They repeat a list of names.
fn rules() -> Vec<String> {
    let rule = |number: usize| {
        format!(
            "type='signal',sender='{DRIVER}',interface='{DRIVER}',member='NameOwnerChanged',\
             arg0='org.freedesktop.Telepathy.Connection.account{}'",
            number % DISTINCT
        )
    };
    (0..RULES).map(rule).collect()
}

/// Adds all rules one after the other, over more than a second, and disconnects. Returns the unique
/// name of the program.
fn subscribe(address: &str) -> String {
    let program = Connection::open(address).expect("the bus listens");
    for rule in rules() {
        program
            .call(DRIVER, "/org/freedesktop/DBus", DRIVER, "AddMatch", &(rule.as_str(),))
            .expect("the bus accepts the rule");
        thread::sleep(Duration::from_millis(2));
    }
    program.unique_name().as_str().to_owned()
}

#[test]
fn duplicate_match_rules_are_counted_after_their_program_has_left() {
    let mut times: HashMap<String, usize> = HashMap::new();
    for rule in rules() {
        *times.entry(rule).or_default() += 1;
    }
    let distinct = times.len();
    let most = times.values().max().copied().expect("at least one rule");
    assert_eq!((RULES, distinct, RULES - distinct), (628, 25, 603));

    let elements = "<limit name='max_match_rules_per_connection'>1000</limit>";
    for bus in ["ours", "dbus-daemon"] {
        let folder = ProgramFolder::new();
        let mut command = match bus {
            "ours" => folder.dbus_daemon(),
            program => Command::new(program),
        };
        command.args(["--nofork", "--print-address=1", "--config-file"]);
        let mut process =
            SpawnedProgram::start(command.arg(folder.config(elements)).stdin(Stdio::null()));
        let address = process.line();
        let file = folder.join("rules.pcapng");
        let recorder = start(&folder, &address, &file, &[]);
        let unique = subscribe(&address);
        wait_until("the program has left", || {
            let capture = read(&file);
            let is_program = |name| capture.strings().get(name) == unique;
            let mut peers = capture.directory().peers();
            peers.any(|(_, peer)| is_program(peer.unique) && peer.left.is_some())
        });
        assert!(recorder.end(Signal::INT).status.success());
        process.end(Signal::TERM);

        let capture = read(&file);
        let added = |message: &capture::model::CapturedMessage<'_>| {
            message.member() == "AddMatch"
                && message.sender() == unique
                && message.destination() == DRIVER
        };
        assert_eq!(capture.messages().filter(added).count(), RULES, "{bus}");
        let run = |words: &[&str]| {
            let mut command = folder.diligence();
            let output = command.args(words).output().expect("the program exists");
            assert!(output.status.success(), "{bus}: {output:?}");
            text(&output.stdout)
        };

        let csv = run(&["stats", "rules.pcapng", "--by", "rules", "--csv"]);
        let counts = format!(",{RULES},{distinct},{},{RULES},0,{most},", RULES - distinct);
        let rows: Vec<_> = csv.lines().filter(|line| line.contains(&counts)).collect();
        assert_eq!(rows.len(), 1, "{bus}: {csv}");
        assert!(rows[0].contains(&unique), "{bus}: {csv}");

        let json = run(&["lint", "rules.pcapng", "--json"]);
        let wanted = [
            (
                "L01",
                format!(
                    "had {RULES} match rules, {distinct} distinct and {} duplicates; {most} times ",
                    RULES - distinct
                ),
            ),
            ("L02", format!("had {RULES} match rules, ")),
        ];
        for (rule, says) in wanted {
            let id = format!("\"rule\":\"{rule}\"");
            let findings: Vec<_> = json.lines().filter(|line| line.contains(&id)).collect();
            let is_right = |line: &&&str| line.contains(&says) && line.contains(&unique);
            assert_eq!(findings.iter().filter(is_right).count(), 1, "{bus} {rule}: {json}");
        }
    }
}
