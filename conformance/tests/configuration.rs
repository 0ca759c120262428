//! Valid and slightly invalid configuration files: both buses accept or reject the same files. Both
//! buses run already and reload their file, which is much faster than starting them.
//!
//! `DILIGENCE_SEED` repeats a run, and `DILIGENCE_CONFIGURATIONS` sets the number of files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::OwnedFd;

use conformance::differential::{SeededRandom, number, seeds, start_reference};
use conformance::{
    BusUnderTest, ExternalProgram, Flavour, PlainMessage, ScratchFolder, TestConfig, TestPeer,
    first_line, link_bus,
};

/// The default number of files, which takes a few seconds.
const FILES: u64 = 2_000;

#[test]
fn random_files_have_the_verdicts_of_the_reference() {
    let count = number("DILIGENCE_CONFIGURATIONS").unwrap_or(FILES);
    let mut random = SeededRandom::from_seed(seeds(1).next().expect("one"));
    let mut sides = start();
    let mut tally: BTreeMap<_, u64> = BTreeMap::new();
    let mut differences = Vec::new();
    for _ in 0..count {
        let elements = elements(&mut random);
        let [ours, theirs] = sides.each_mut().map(|side| side.reads(&elements));
        if ours == ConfigVerdict::Denied || theirs == ConfigVerdict::Denied {
            // The rules of this file denied the next reload, so both buses start again.
            sides = start();
        }
        let outcome = match excuse(&elements, &ours, &theirs) {
            _ if ours.word() == theirs.word() => ours.word(),
            Some(excuse) => excuse,
            None => {
                differences.push(format!("{elements}\n  ours:   {ours:?}\n  theirs: {theirs:?}"));
                continue;
            }
        };
        *tally.entry(outcome).or_default() += 1;
        if differences.len() >= DIFFERENCES_SHOWN {
            break;
        }
    }
    println!("{tally:?}");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(tally["accepted"] > count / 20 && tally["refused"] > count / 20, "{tally:?}");
}

/// The result of reloading a file.
#[derive(Clone, PartialEq, Eq, Debug)]
enum ConfigVerdict {
    Accepted,
    Refused(String),
    /// The rules in force do not allow the call of ReloadConfig.
    Denied,
}

impl ConfigVerdict {
    const fn word(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused(_) => "refused",
            Self::Denied => "denied",
        }
    }
}

/// Returns the known difference between the buses for a file: a row of docs/deviations.md.
fn excuse(elements: &str, ours: &ConfigVerdict, theirs: &ConfigVerdict) -> Option<&'static str> {
    match (ours, theirs) {
        (ConfigVerdict::Refused(reason), ConfigVerdict::Accepted) => BEHIND_NUMBERS
            .iter()
            .any(|text| reason.contains(text))
            .then_some("a number with something behind it")
            .or(reason
                .contains("Unsupported auth mechanism")
                .then_some("looked at in the beginning")),
        (ConfigVerdict::Accepted, ConfigVerdict::Refused(reason))
            if elements.contains("<?") && reason.contains("not well-formed")
                || elements.contains("&#") && reason.contains("invalid character number") =>
        {
            Some("an instruction whose name, or a character whose number, is none")
        }
        _ => None,
    }
}

/// Errors about numbers with trailing characters, which dbus-daemon ignores.
const BEHIND_NUMBERS: [&str; 2] = ["(could not parse as integer)", "must be an integer in range"];

/// A bus, and a client that makes it reload.
struct ConfigSide {
    bus: BusUnderTest,
    peer: TestPeer,
}

fn start() -> [ConfigSide; 2] {
    let config = TestConfig::session();
    [BusUnderTest::start(&config), start_reference(&config)]
        .map(|bus| ConfigSide { peer: bus.peer(), bus })
}

impl ConfigSide {
    fn reads(&mut self, elements: &str) -> ConfigVerdict {
        // The rules at the end allow the next reload.
        let folder = self.bus.scratch().path();
        let text = format!(
            "<busconfig><type>session</type><listen>unix:path={}/bus</listen>{elements}\
             <policy context='mandatory'><allow user='*'/><allow send_destination='*'/>\
             <allow receive_sender='*'/></policy></busconfig>",
            folder.display()
        );
        fs::write(folder.join("bus.conf"), text).expect("the folder is writable");
        let reply = self.peer.call(PlainMessage::to_bus("ReloadConfig"));
        match reply.error_name() {
            "" => ConfigVerdict::Accepted,
            "AccessDenied" => ConfigVerdict::Denied,
            name => ConfigVerdict::Refused(format!("{name}: {}", reply.first_text())),
        }
    }
}

/// Generates some elements, most of them with a mistake.
fn elements(random: &mut SeededRandom) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(3) {
        text.push_str(&match random.below(3) {
            0 => random.pick(ELEMENTS).to_owned(),
            1 => policy(random),
            _ => format!("<limit name='{}'>{}</limit>", random.pick(LIMITS), random.pick(NUMBERS)),
        });
    }
    if random.once_in(2) {
        garble(&mut text, random);
    }
    text
}

fn policy(random: &mut SeededRandom) -> String {
    let rules: String = (0..random.below(4)).map(|_| rule(random)).collect();
    format!("<policy {}>{rules}</policy>", random.pick(SCOPES))
}

fn rule(random: &mut SeededRandom) -> String {
    let mut attributes = String::new();
    for _ in 0..random.below(4) {
        let (name, values) = ATTRIBUTES[random.below(ATTRIBUTES.len())];
        attributes.push_str(&format!(" {name}='{}'", random.pick(values)));
    }
    format!("<{}{attributes}/>", random.pick(&["allow", "deny"]))
}

/// Changes, inserts or removes a few characters.
fn garble(text: &mut String, random: &mut SeededRandom) {
    for _ in 0..=random.below(2) {
        let at = random.below(text.chars().count() + 1);
        let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        match random.below(3) {
            0 if at < text.len() => drop(text.remove(at)),
            1 => {
                let end = (at..=text.len()).rev().find(|end| text.is_char_boundary(*end));
                let part = text[at..end.unwrap_or(at)].chars().take(20).collect::<String>();
                text.insert_str(at, &part);
            }
            _ => text.insert_str(at, random.pick(ODD)),
        }
    }
}

/// Top-level elements, with all attributes that they allow, and with some that they do not.
const ELEMENTS: &[&str] = &[
    "<user>root</user>",
    "<user>nobody-of-that-name</user>",
    "<fork/>",
    "<keep_umask/>",
    "<syslog/>",
    "<allow_anonymous/>",
    "<pidfile>/tmp/pid</pidfile>",
    "<listen>unix:tmpdir=/tmp</listen>",
    "<listen>nonsense</listen>",
    "<listen/>",
    "<type>system</type>",
    "<type>other</type>",
    "<type/>",
    "<auth>EXTERNAL</auth>",
    "<auth/>",
    "<servicedir>/nowhere</servicedir>",
    "<servicedir>relative</servicedir>",
    "<servicedir/>",
    "<standard_session_servicedirs/>",
    "<standard_system_servicedirs/>",
    "<standard_session_servicedirs>text</standard_session_servicedirs>",
    "<servicehelper>/bin/helper</servicehelper>",
    "<servicehelper/>",
    "<includedir>/nowhere</includedir>",
    "<includedir>d</includedir>",
    "<includedir/>",
    "<include>missing.conf</include>",
    "<include ignore_missing='yes'>missing.conf</include>",
    "<include ignore_missing='no'>missing.conf</include>",
    "<include ignore_missing='maybe'>missing.conf</include>",
    "<include if_selinux_enabled='yes'>missing.conf</include>",
    "<include if_selinux_enabled='yes' selinux_root_relative='yes'>missing</include>",
    "<include selinux_root_relative='yes' ignore_missing='yes'>missing</include>",
    "<include selinux_root_relative='what'>missing</include>",
    "<include>bus.conf</include>",
    "<include/>",
    "<selinux><associate own='a.b' context='c'/></selinux>",
    "<selinux><associate own='a.b'/></selinux>",
    "<selinux><associate context='c'/></selinux>",
    "<selinux><other/></selinux>",
    "<selinux/>",
    "<apparmor/>",
    "<apparmor mode='enabled'/>",
    "<apparmor mode='disabled'/>",
    "<apparmor mode='other'/>",
    "<busconfig/>",
    "<allow own='*'/>",
    "<associate own='a' context='b'/>",
    "<other/>",
    "<fork a='b'/>",
    "<fork>text</fork>",
    "<fork><fork/></fork>",
    "text",
    " \n\t ",
    "<!-- a comment -->",
    "<?instruction for somebody?>",
    "<![CDATA[ ]]>",
    "<![CDATA[text]]>",
    "&amp;",
    "&#32;",
    "&other;",
    "<user>ro&#111;t</user>",
    "<user> root </user>",
    "<type>ses<!-- in the middle -->sion</type>",
    "<limit name='max_names_per_connection'><limit/></limit>",
    "<limit>5</limit>",
    "<limit name='max_names_per_connection'/>",
    "<limit name=\"max_names_per_connection\" other=''>5</limit>",
];

const SCOPES: &[&str] = &[
    "context='default'",
    "context='default'",
    "context=\"mandatory\"",
    "context='other'",
    "user='root'",
    "user='0'",
    "user='*'",
    "user='nobody-of-that-name'",
    "group='root'",
    "group='0'",
    "group='nobody-of-that-name'",
    "at_console='true'",
    "at_console='false'",
    "at_console='yes'",
    "",
    "user='root' group='root'",
    "context='default' user='root'",
    "other='a'",
];

type Attribute = (&'static str, &'static [&'static str]);

const ATTRIBUTES: &[Attribute] = &[
    ("send_interface", NAMES),
    ("send_member", NAMES),
    ("send_error", NAMES),
    ("send_destination", NAMES),
    ("send_destination_prefix", NAMES),
    ("send_path", &["/", "/a/b", "*", "a", ""]),
    ("send_type", TYPES),
    ("send_broadcast", BOOLEANS),
    ("send_requested_reply", BOOLEANS),
    ("receive_interface", NAMES),
    ("receive_member", NAMES),
    ("receive_error", NAMES),
    ("receive_sender", NAMES),
    ("receive_path", &["/", "/a/b", "*"]),
    ("receive_type", TYPES),
    ("receive_requested_reply", BOOLEANS),
    ("eavesdrop", BOOLEANS),
    ("max_fds", NUMBERS),
    ("min_fds", NUMBERS),
    ("own", NAMES),
    ("own_prefix", NAMES),
    ("user", &["root", "*", "0", "nobody-of-that-name"]),
    ("group", &["root", "*", "0", "nobody-of-that-name"]),
    ("log", BOOLEANS),
    ("other", &["a"]),
];

const NAMES: &[&str] = &["a.b", "a.b.C", "*", "a", "", "a..b", ":1.1", "org.freedesktop.DBus"];
const TYPES: &[&str] =
    &["signal", "method_call", "method_return", "error", "*", "other", "", "invalid"];
const BOOLEANS: &[&str] = &["true", "false", "true", "yes", "", "TRUE"];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "5",
    "007",
    " 5",
    "5 ",
    "+5",
    "-5",
    "0x10",
    "5x",
    "",
    "4294967296",
    "99999999999999999999",
    "1e3",
];

/// Limits that still allow the client to connect and call.
const LIMITS: &[&str] = &[
    "max_names_per_connection",
    "max_match_rules_per_connection",
    "max_pending_service_starts",
    "service_start_timeout",
    "auth_timeout",
    "max_message_unix_fds",
    "other",
    "",
];

const ODD: &[&str] = &[
    "<",
    ">",
    "/",
    "'",
    "\"",
    "&",
    ";",
    "=",
    " ",
    "\n",
    "x",
    "é",
    "\u{1}",
    "<!--",
    "-->",
    "]]>",
    "<a>",
    "</a>",
    "a:b",
    "xmlns='x'",
    "&lt;",
    "&#0;",
    "&#x110000;",
    "/>",
    "0",
    "-",
];

/// Enough differences to see what they have in common.
const DIFFERENCES_SHOWN: usize = 40;

/// A configuration without a path can be read from a descriptor, and reloaded: a deleted file, an
/// unnamed file, a pipe.
#[test]
fn configurations_without_a_path_can_be_read_and_reloaded() {
    let scratch = ScratchFolder::new();
    let text = TestConfig::session().text(scratch.path());
    let deleted = || {
        let path = scratch.file("deleted.conf", &text);
        let file = File::open(&path).expect("it was written");
        fs::remove_file(path).expect("it is ours");
        OwnedFd::from(file)
    };
    let nameless = || {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::memfd_create("bus.conf", flags).expect("memory"));
        file.write_all(text.as_bytes()).expect("memory");
        OwnedFd::from(file)
    };
    let pipe = || {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(text.as_bytes()).expect("it is short");
        OwnedFd::from(reader)
    };
    let kinds: [(&str, &dyn Fn() -> OwnedFd); 3] =
        [("deleted", &deleted), ("nameless", &nameless), ("pipe", &pipe)];
    for (kind, open) in kinds {
        // dbus-daemon reads an empty text from pipes.
        if kind == "pipe" && Flavour::under_test() == Flavour::Reference {
            continue;
        }
        for path in ["/proc/self/fd/3", "/dev/fd/3"] {
            let link = ScratchFolder::new();
            let mut running = ExternalProgram::shell("exec 3<&0 </dev/null \"$@\"")
                .arg(link_bus(&link))
                .args(["--nofork", "--print-address=1", "--config-file", path])
                .stdin(open())
                .start();
            let address = running.wait_for("address", |stdout, _| first_line(stdout));
            let reply = TestPeer::connect(&address).call(PlainMessage::to_bus("ReloadConfig"));
            assert_eq!(reply.error_name(), "", "{kind} {path}: {}", reply.summary());
            let _ = running.terminate().success();
        }
    }
}
