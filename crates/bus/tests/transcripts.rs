//! Transcripts of the bus: each file in `transcripts/` lists inputs and, indented below each, the
//! resulting effects. Each file is a test.
//!
//! ```text
//! # Lines with a hash are comments.
//! limit max_names_per_connection=4     settings: also helper, identity,
//! policy open                          unrestricted, closed; or rules, see
//! rule user=7 deny own a.b             `testkit::rules`
//! join a uid=1000 pid=42 fds           connect, authenticate and say Hello
//! connect b uid=0 pid=7 groups=0,4     the same in steps; also console, comm=x
//! auth b fds
//! a: bus RequestName "com.example.A" u:0
//! a: call com.example.B /x a.b.M "text" no-reply
//! a: signal /x a.b.S u:1 to=:1.1 big serial=9 sender=:1.7 fds=1 field=42 broken
//! a: return re=3 to=:1.1 "text"
//! a: error re=3 to=:1.1 a.b.Error "text"
//! a: type9 /x a.b.M to=:1.1
//! a: call :1.1 /x a.b.M re=3           a call that looks like a reply
//! stall b                              b stops reading until the next read
//! traffic b 3 300 1 90                 b says that it sent 3 messages (300 bytes) on lanes, and got 1
//! read b 2                             b reads two messages
//! read b                               b reads all messages, and keeps reading
//! at 25s                               set the time and handle what is due
//! deadline                             print the next deadline
//! accepting                            print whether the bus accepts connections
//! reloaded                             apply the settings above and answer pending reloads
//! not reloaded "text"                  the reload failed with this error
//! replaced OLD NEW MICROSECONDS        another program has replaced the daemon
//! not replaced "text"                  the replacement failed with this error
//! disconnect a
//! service com.example.A unit=a.service an activatable service, also a setting
//! systemd                              systemd starts the units
//! failed com.example.A exited=7        a start failed: exited, signaled, exec, fork,
//!                                      command, helper
//! ```
//!
//! Each file is a second test, in which the bus is saved and restored before each input.
//!
//! The runner checks every message that is sent (see `testkit::world`). At the end of each file it
//! disconnects all peers and checks that the bus has freed everything. With `DILIGENCE_BLESS=1` it
//! rewrites the lines below the inputs.

mod message_line;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bus::policy::{Console, PeerAttributes, PolicyRule};
use bus::{
    BusIdentity, BusLimits, Configuration, ConnectionCredentials, ContainerId, DescriptorPassing,
    Details, DisconnectReason, Fds, ForeignError, HelperFailure, Input, LaneCounts, LogEvent,
    PeerId, PidFd, Policy, Replacement, Service, ServiceHelper, ServiceManager, StartFailure,
    StartId, StartProblem, Time, TraceAudience, Urgency,
};
use libtest_mimic::{Arguments, Trial};
use message_line::MessageLine;
use testkit::golden::{self, GoldenMode};
use testkit::rules;
use testkit::text::{self, ValueCursor};
use testkit::world::{self, BusWorld, ReadingMode, ReplacementTiming, SeenEffect, foreign_error};
use wire::body::Value;
use wire::message::{Flags, MessageType};
use wire::{Endian, Message};

fn main() -> ExitCode {
    let mode = match std::env::var("DILIGENCE_BLESS").as_deref() {
        Ok("1") => GoldenMode::Bless,
        _ => GoldenMode::Compare,
    };
    let replacements = match mode {
        GoldenMode::Bless => &[ReplacementTiming::Never][..],
        GoldenMode::Compare => &[ReplacementTiming::Never, ReplacementTiming::BeforeEachInput],
    };
    let trials = files().into_iter().flat_map(|path| {
        replacements.iter().map(move |&replacement| trial(path.clone(), mode, replacement))
    });
    let trials = trials.collect();
    // Miri runs a test in the main thread, which is the simplest to interpret.
    let threads = cfg!(miri).then_some(1);
    let arguments = Arguments::from_args();
    let arguments = Arguments { test_threads: arguments.test_threads.or(threads), ..arguments };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Creates the test of one file, which has the name of the file.
fn trial(path: PathBuf, mode: GoldenMode, replacement: ReplacementTiming) -> Trial {
    let folder = match replacement {
        ReplacementTiming::Never => "transcripts",
        ReplacementTiming::BeforeEachInput => "transcripts_of_a_replaced_bus",
    };
    let name = format!("{folder}/{}", path.file_name().unwrap_or_default().display());
    // Miri takes up to half an hour for each of the long ones.
    let is_long = path.metadata().is_ok_and(|data| data.len() >= 1200);
    let trial = Trial::test(name, move || {
        let text = fs::read_to_string(&path)?;
        let actual = Runner::run(&path, &text, replacement);
        Ok(golden::settle(&path, &actual, mode)?)
    });
    match cfg!(miri) && is_long {
        true => trial.with_kind("too long for Miri").with_ignored_flag(true),
        false => trial,
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let entries = fs::read_dir(folder).expect("the folder of transcripts");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "the folder contains transcripts");
    files
}

/// The execution of one transcript.
struct Runner {
    settings: Configuration,
    identity: BusIdentity,
    rules: Vec<PolicyRule>,
    replacement: ReplacementTiming,
    /// Created at the first connection, so that settings can come before it.
    world: Option<BusWorld>,
    peers: BTreeMap<String, PeerId>,
    names: BTreeMap<PeerId, String>,
    /// The latest start of each service.
    starts: BTreeMap<String, StartId>,
    output: String,
    /// The file, number and text of the current line.
    location: String,
}

impl Drop for Runner {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.location);
        }
    }
}

impl Runner {
    fn run(path: &Path, text: &str, replacement: ReplacementTiming) -> String {
        let file = path.file_name().unwrap_or_default().display();
        let mut runner = Self {
            settings: Configuration::default(),
            identity: world::identity(),
            rules: Vec::new(),
            replacement,
            world: None,
            peers: BTreeMap::new(),
            names: BTreeMap::new(),
            starts: BTreeMap::new(),
            output: String::new(),
            location: String::new(),
        };
        for (number, line) in text.lines().enumerate() {
            if line.starts_with(' ') {
                continue;
            }
            runner.location = format!("{file}:{}: {line}", number + 1);
            runner.output.push_str(line);
            runner.output.push('\n');
            if !line.is_empty() && !line.starts_with('#') {
                runner.line(line);
            }
        }
        runner.location = format!("{file}: after the last line");
        runner.world().end();
        std::mem::take(&mut runner.output)
    }

    fn world(&mut self) -> &mut BusWorld {
        self.world.get_or_insert_with(|| {
            BusWorld::with_identity(self.settings.clone(), self.identity.clone())
                .replaced(self.replacement)
        })
    }

    fn line(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(peer) = word.strip_suffix(':') {
            return self.message(peer, rest);
        }
        match word {
            "limit" => match rest.strip_prefix("max_lanes_per_connection=") {
                Some(max) => {
                    self.settings.lanes.max_lanes_per_connection = max.parse().expect("a number");
                }
                None => set_limit(&mut self.settings.limits, rest),
            },
            "user" => self.user_limit(rest),
            "policy" => self.policy(rest),
            "rule" => self.rule(rest),
            "helper" => self.settings.service_helper = ServiceHelper::Present,
            "identity" => self.identity(rest),
            "service" => self.service(rest),
            "systemd" => self.settings.services.manager = ServiceManager::Systemd,
            "failed" => self.failed(rest),
            "connect" => self.connect(rest),
            "auth" => self.authenticate(rest),
            "join" => self.join(rest),
            "stall" => {
                let peer = self.peer(rest);
                self.world().set_reads(peer, ReadingMode::WhenTold);
            }
            "read" => self.read(rest),
            "traffic" => self.lane_traffic(rest),
            "at" => self.at(rest),
            "deadline" => self.deadline(),
            "accepting" => {
                let accepting = self.world().bus.is_accepting();
                self.push_line(&format!("= {accepting}"));
            }
            "crowding" => {
                let uid = Some(rest.parse().expect("a number"));
                let crowding = self.world().bus.is_crowding(uid);
                self.push_line(&format!("= {crowding}"));
            }
            "reloaded" => {
                let settings = self.settings.clone();
                self.reloaded(Ok(Box::new(settings)));
            }
            "replaced" => {
                let words: Vec<_> = rest.split(' ').collect();
                let [old, new, paused] = words[..] else { panic!("replaced OLD NEW MICROSECONDS") };
                self.replaced(Ok(Replacement {
                    old_version: old.into(),
                    new_version: new.into(),
                    paused: Duration::from_micros(paused.parse().expect("microseconds")),
                }));
            }
            "not" => {
                let (what, text) = rest.split_once(' ').expect("not reloaded TEXT");
                let error = foreign_error(&string(text));
                match what {
                    "replaced" => self.replaced(Err(error)),
                    _ => self.reloaded(Err(error)),
                }
            }
            "disconnect" => {
                let peer = self.peers.remove(rest).expect("a connection");
                let seen = self.world().disconnect(peer);
                self.record(&seen);
            }
            _ => panic!("{word} is not a command"),
        }
    }

    fn user_limit(&mut self, rest: &str) {
        let (uid, rest) = rest.split_once(" limit ").expect("user UID limit NAME=VALUE");
        let uid = uid.parse().expect("a number");
        let all = self.settings.limits.clone();
        set_limit(self.settings.user_limits.entry(uid).or_insert(all), rest);
    }

    fn policy(&mut self, name: &str) {
        self.rules.clear();
        self.settings.policy = match name {
            "open" => Policy::open(),
            "unrestricted" => Policy::unrestricted(),
            "closed" => Policy::new(Vec::new()),
            _ => panic!("{name} is not a policy"),
        };
    }

    /// Adds a rule to the rules since the last `policy` line.
    fn rule(&mut self, line: &str) {
        self.rules.push(rules::rule(line));
        self.settings.policy = Policy::new(self.rules.clone());
    }

    fn service(&mut self, rest: &str) {
        let (name, options) = rest.split_once(' ').unwrap_or((rest, ""));
        let unit = pairs(options).find(|(key, _)| *key == "unit").map(|(_, unit)| unit.into());
        let label = pairs(options).find(|(key, _)| *key == "label").map(|(_, label)| label.into());
        self.settings.services.add(name, Service { unit, label });
    }

    fn failed(&mut self, rest: &str) {
        let (name, kind) = rest.split_once(' ').expect("failed NAME KIND");
        let (kind, value) = kind.split_once('=').unwrap_or((kind, ""));
        let number = || value.parse().expect("a number");
        let error = || foreign_error(value);
        let failure = match kind {
            "exited" => StartFailure::Exited { status: number() },
            "signaled" => StartFailure::Signaled { signal: number() },
            "exec" => StartFailure::Exec(error()),
            "fork" => StartFailure::Fork(error()),
            "command" => StartFailure::Command(error()),
            "helper" => {
                let failure = HelperFailure::from_status(number());
                StartFailure::Helper(failure.expect("a failure"))
            }
            _ => panic!("{kind} is not a kind of failure"),
        };
        let start = *self.starts.get(name).unwrap_or_else(|| panic!("{name} was never started"));
        let seen = self.world().input(Input::StartFailed { start, failure });
        self.record(&seen);
    }

    fn identity(&mut self, rest: &str) {
        for (name, value) in pairs(rest) {
            match name {
                "machine_id" => self.identity.machine_id = None,
                "label" => self.identity.security_label = Some(value.as_bytes().into()),
                _ => panic!("{name} is not an attribute of the bus"),
            }
        }
    }

    fn connect(&mut self, rest: &str) {
        let (alias, options) = rest.split_once(' ').unwrap_or((rest, ""));
        let seen = self.connected(alias, options);
        self.record(&seen);
    }

    fn connected(&mut self, alias: &str, options: &str) -> Vec<SeenEffect> {
        let container = pairs(options).find(|(name, _)| *name == "container");
        let container =
            container.map(|(_, number)| ContainerId::new(number.parse().expect("a number")));
        let (peer, seen) =
            self.world().connect_to(container, credentials(options), details(options));
        self.peers.insert(alias.to_owned(), peer);
        self.names.insert(peer, alias.to_owned());
        let attributes = attributes(options);
        self.world().input(Input::AttributesRead { peer, attributes });
        seen
    }

    fn authenticate(&mut self, rest: &str) {
        let (alias, options) = rest.split_once(' ').unwrap_or((rest, ""));
        let seen = self.authenticated(alias, options);
        self.record(&seen);
    }

    /// Authenticates a connection as its real user, unless the options name another.
    fn authenticated(&mut self, alias: &str, options: &str) -> Vec<SeenEffect> {
        let peer = self.peer(alias);
        let words: Vec<_> = options.split_whitespace().collect();
        let fds = if words.contains(&"fds") {
            DescriptorPassing::Agreed
        } else {
            DescriptorPassing::Refused
        };
        let known = self.world().bus.credentials(peer).and_then(|known| known.uid);
        let given = pairs(options).find(|(name, _)| *name == "uid");
        let given = given.map(|(_, value)| value.parse().expect("a number"));
        let uid = if words.contains(&"anonymous") { None } else { given.or(known) };
        self.world().authenticate(peer, uid, fds)
    }

    fn join(&mut self, rest: &str) {
        let (alias, options) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut seen = self.connected(alias, options);
        seen.extend(self.authenticated(alias, options));
        let peer = self.peer(alias);
        seen.extend(self.world().call_bus(peer, "Hello", &[]));
        self.record(&seen);
    }

    fn read(&mut self, rest: &str) {
        let (alias, count) = rest.split_once(' ').unwrap_or((rest, ""));
        let peer = self.peer(alias);
        let count = count.parse().unwrap_or_else(|_| {
            self.world().set_reads(peer, ReadingMode::AtOnce);
            usize::MAX
        });
        let seen = self.world().write(peer, count);
        self.record(&seen);
    }

    /// A connection states the messages that it sent and received on lanes, with their bytes.
    fn lane_traffic(&mut self, rest: &str) {
        let (peer, numbers) = rest.split_once(' ').expect("traffic PEER NUMBERS");
        let mut numbers = numbers.split(' ').map(|number| number.parse().expect("a number"));
        let mut next = || numbers.next().expect("four numbers");
        let [sent, sent_bytes, received, received_bytes] = std::array::from_fn(|_| next());
        let traffic = LaneCounts { sent, sent_bytes, received, received_bytes };
        let peer = self.peer(peer);
        let seen = self.world().input(Input::LaneTraffic { peer, traffic });
        self.record(&seen);
    }

    fn at(&mut self, rest: &str) {
        let world = self.world();
        world.now = Time::default().after(duration(rest));
        if world.bus.next_deadline().is_some_and(|deadline| deadline <= world.now) {
            let seen = world.input(Input::DeadlinePassed);
            self.record(&seen);
        }
    }

    fn deadline(&mut self) {
        let text = match self.world().bus.next_deadline() {
            Some(time) => format!("= {time}"),
            None => "= never".to_owned(),
        };
        self.push_line(&text);
    }

    fn replaced(&mut self, outcome: Result<Replacement, ForeignError>) {
        let seen = self.world().input(Input::Replaced { outcome });
        self.record(&seen);
    }

    fn reloaded(&mut self, outcome: Result<Box<Configuration>, ForeignError>) {
        let seen = self.world().input(Input::Reconfigured { outcome });
        self.record(&seen);
    }

    fn message(&mut self, alias: &str, rest: &str) {
        let peer = self.peer(alias);
        let words = MessageLine::parse(rest);
        let serial = match words.serial {
            Some(serial) => serial,
            None => self.world().next_serial(peer),
        };
        let bytes = words.build(serial);
        let seen = self.world().send_bytes(peer, &bytes);
        self.record(&seen);
    }

    fn peer(&self, alias: &str) -> PeerId {
        *self.peers.get(alias).unwrap_or_else(|| panic!("{alias} is not connected"))
    }

    fn push_line(&mut self, line: &str) {
        let _ = writeln!(self.output, "  {line}");
    }

    fn record(&mut self, seen: &[SeenEffect]) {
        for seen in seen {
            let line = self.describe(seen);
            self.push_line(&line);
            if let SeenEffect::Start(start, name) = seen {
                self.starts.insert(name.clone(), *start);
            }
        }
    }

    fn describe(&self, seen: &SeenEffect) -> String {
        match seen {
            SeenEffect::Sent { to, bytes, fds, urgency } => {
                let message = Message::parse(bytes).expect("sent messages are valid");
                let arrow = match urgency {
                    Urgency::Awaited => "->",
                    Urgency::Passing => "~>",
                };
                let mut line = format!("{arrow} {}: {}", self.names[to], describe(&message));
                match fds {
                    Fds::OfProcess(peer) => {
                        let _ = write!(line, " pidfd of {}", self.names[peer]);
                    }
                    Fds::OfRing => line.push_str(" ring"),
                    Fds::OfLane(_) => line.push_str(" lane"),
                    Fds::OfRecorder => line.push_str(" ring participants"),
                    Fds::Held(_) => line.push_str(" held"),
                    Fds::None | Fds::OfInput => {}
                }
                if let Some(container) = world::container_of(&message) {
                    let _ = write!(line, " container={container}");
                }
                line
            }
            SeenEffect::Disconnect(peer, reason) => {
                let reason = match reason {
                    DisconnectReason::InvalidMessage(error) => format!("{error}"),
                    other => format!("{other:?}"),
                };
                format!("!! disconnect {}: {reason}", self.names[peer])
            }
            SeenEffect::Replace(caller) => format!("replacement for {}", self.names[caller]),
            SeenEffect::Reload(caller) => format!("reload for {}", self.names[caller]),
            SeenEffect::Start(start, name) => format!("{start}: {name}"),
            SeenEffect::Abandon(start) => format!("abandon {start}"),
            SeenEffect::CloseLane(lane) => format!("{lane} is closed"),
            SeenEffect::NoteNameChanges(peer, count) => {
                format!("the names of {} have changed {count} times", self.names[peer])
            }
            SeenEffect::Traced { bytes, audience } => {
                let message = Message::parse(bytes).expect("sent messages are valid");
                let audience = match audience {
                    TraceAudience::All => "all",
                    TraceAudience::One(peer) => &self.names[peer],
                };
                format!("traced for {audience}: {}", describe(&message))
            }
            SeenEffect::Owner(owner) => format!("traced for the recorder: {owner:?}"),
            SeenEffect::Joined(peer) => format!("traced for all: {} joined", self.names[peer]),
            SeenEffect::CloseRing(peer) => format!("the ring of {} is closed", self.names[peer]),
            SeenEffect::CloseContainer(id) => format!("the socket of {} is closed", id.path()),
            SeenEffect::RemoveContainer(id) => format!("{} is removed", id.path()),
            SeenEffect::Log(event) => self.describe_event(event),
        }
    }

    fn describe_event(&self, event: &LogEvent) -> String {
        let name = |peer: &PeerId| &*self.names[peer];
        match event {
            LogEvent::BecameMonitor { peer } => format!("log: {} became a monitor", name(peer)),
            LogEvent::Traces { peer } => format!("log: {} started a trace", name(peer)),
            LogEvent::LanesEnded { count, reason } => format!("log: ended {count} lanes: {reason}"),
            LogEvent::LosingSignals { peer, sender, reached } => {
                let sender = sender.as_ref().map_or("the bus", name);
                format!("log: {} loses messages, {reached}, first of {sender}", name(peer))
            }
            LogEvent::Undelivered { peer, sender, shortage } => {
                let sender = sender.as_ref().map_or("the bus", name);
                format!("log: not delivered to {}, from {sender}: {}", name(peer), shortage.word())
            }
            LogEvent::CaughtUp { peer, lost } => {
                format!("log: {} caught up, {lost} lost", name(peer))
            }
            LogEvent::Starting { name, method, requester } => {
                format!("log: starting {name} as {method:?} for {}", self.names[requester])
            }
            LogEvent::Started { name } => format!("log: started {name}"),
            LogEvent::StartFailed { name, problem, .. } => {
                let kind = match problem {
                    StartProblem::Process(_) => "Process".to_owned(),
                    StartProblem::Unit { unit, .. } => format!("Unit({unit:?})"),
                    StartProblem::Timeout { .. } => "Timeout".to_owned(),
                };
                let text = problem.describe(name).to_string();
                format!("log: failed {name} by {kind}: {}", quoted(&text))
            }
            LogEvent::Refused { peer, reason } => {
                let usage = reason.limit_hit().map(|hit| format!(" ({hit})")).unwrap_or_default();
                format!("log: refused {}: {}{usage}", name(peer), reason.cause())
            }
            LogEvent::Withheld { sender, peer, reason, .. } => {
                let sender = sender.as_ref().map_or("the bus", name);
                format!(
                    "log: withheld from {}, of {sender}: {}",
                    name(peer),
                    quoted(&reason.to_string())
                )
            }
            LogEvent::Allowed { peer, permission } => {
                format!("log: allowed {}: {}", name(peer), quoted(&permission.to_string()))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    text::show(&text.into())
}

fn set_limit(limits: &mut BusLimits, rest: &str) {
    let (name, value) = rest.split_once('=').expect("limit NAME=VALUE");
    if let Some(time) = match name {
        "auth_timeout" => Some(&mut limits.auth_timeout),
        "reply_timeout" => Some(&mut limits.reply_timeout),
        "service_start_timeout" => Some(&mut limits.service_start_timeout),
        _ => None,
    } {
        *time = (value != "never").then(|| duration(value));
        return;
    }
    let place = match name {
        "max_outgoing_bytes" => &mut limits.max_outgoing_bytes,
        "max_outgoing_unix_fds" => &mut limits.max_outgoing_unix_fds,
        "max_completed_connections" => &mut limits.max_completed_connections,
        "max_incomplete_connections" => &mut limits.max_incomplete_connections,
        "max_connections_per_user" => &mut limits.max_connections_per_user,
        "max_names_per_connection" => &mut limits.max_names_per_connection,
        "max_match_rules_per_connection" => &mut limits.max_match_rules_per_connection,
        "max_replies_per_connection" => &mut limits.max_replies_per_connection,
        "max_containers" => &mut limits.max_containers,
        "max_containers_per_user" => &mut limits.max_containers_per_user,
        "max_container_metadata_bytes" => &mut limits.max_container_metadata_bytes,
        "max_connections_per_container" => &mut limits.max_connections_per_container,
        "max_pending_service_starts" => &mut limits.max_pending_service_starts,
        "max_incoming_bytes" => &mut limits.max_incoming_bytes,
        "max_incoming_unix_fds" => &mut limits.max_incoming_unix_fds,
        _ => panic!("{name} is not a limit of the core"),
    };
    *place = value.parse().expect("a number");
}

/// Describes a message in one line.
fn describe(message: &Message<'_>) -> String {
    let is_own = is_own(message);
    let serial = (!is_own).then(|| format!("#{}", message.serial()));
    let reply = message.reply_serial().map(|serial| format!("re={serial}"));
    let short = |name: &str| if name == DRIVER { "bus".to_owned() } else { name.to_owned() };
    let sender = message.sender().map(|name| format!("from {}", short(name.as_str())));
    let destination = message.destination().map(|name| format!("to {}", short(name.as_str())));
    let path = message.path().filter(|path| *path != DRIVER_PATH).map(|path| path.to_string());
    let error = message.error_name().map(|name| {
        let name = name.as_str();
        name.strip_prefix("org.freedesktop.DBus.Error.").unwrap_or(name).to_owned()
    });
    let args = Value::read_args(message).expect("sent messages are valid");
    let args = format!("({})", text::show_all(&args));
    let words = [reply, serial, sender, destination, path, member_of(message), error, Some(args)];
    let words = words.into_iter().flatten().chain(marks_of(message));
    words.fold(kind_of(message), |line, word| line + " " + &word)
}

/// True if the message is from the bus itself.
fn is_own(message: &Message<'_>) -> bool {
    message.sender().is_none_or(|sender| sender == DRIVER)
}

fn kind_of(message: &Message<'_>) -> String {
    match message.message_type() {
        MessageType::MethodCall => "call".to_owned(),
        MessageType::MethodReturn => "return".to_owned(),
        MessageType::Error => "error".to_owned(),
        MessageType::Signal => "signal".to_owned(),
        MessageType::Unknown(code) => format!("type{code}"),
    }
}

/// The interface and the member. An interface that equals the bus's name is omitted.
fn member_of(message: &Message<'_>) -> Option<String> {
    let member = message.member()?;
    match message.interface().filter(|name| *name != DRIVER) {
        Some(interface) => Some(format!("{interface}.{member}")),
        None => Some(member.to_string()),
    }
}

/// The flags, a byte order other than this machine's, and the number of descriptors.
fn marks_of(message: &Message<'_>) -> Vec<String> {
    let flags = FLAGS.iter().filter(|(flag, _)| message.flags().contains(*flag));
    let flags = flags.filter(|_| !is_own(message)).map(|(_, word)| (*word).to_owned());
    let order = (message.endian() != Endian::NATIVE).then(|| "big".to_owned());
    let fds = (message.unix_fds() > 0).then(|| format!("fds={}", message.unix_fds()));
    flags.chain(order).chain(fds).collect()
}

fn credentials(options: &str) -> ConnectionCredentials {
    let mut credentials = ConnectionCredentials::default();
    for (name, value) in pairs(options) {
        match name {
            "uid" => credentials.uid = value.parse().ok(),
            "pid" => credentials.pid = value.parse().ok(),
            "groups" | "label" | "comm" | "container" => {}
            _ => panic!("{name} is not an attribute of a connection"),
        }
    }
    credentials
}

fn details(options: &str) -> Details {
    let has_pidfd = options.split_whitespace().any(|word| word == "pidfd");
    let value = |wanted| pairs(options).find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let numbers = |list: &str| list.split(',').filter_map(|number| number.parse().ok()).collect();
    Details {
        groups: value("groups").map(numbers),
        security_label: value("label").map(|label| label.as_bytes().into()),
        pidfd: if has_pidfd { PidFd::Held } else { PidFd::Absent },
    }
}

fn attributes(options: &str) -> PeerAttributes {
    let is_at_console = options.split_whitespace().any(|word| word == "console");
    let command = pairs(options).find(|(name, _)| *name == "comm");
    PeerAttributes {
        groups: details(options).groups,
        console: if is_at_console { Console::Present } else { Console::Absent },
        command: command.map(|(_, command)| command.to_owned()),
        label: None,
    }
}

/// Returns the words of the form `name=value`.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_whitespace().filter_map(|word| word.split_once('='))
}

fn string(text: &str) -> String {
    match ValueCursor::new(text).value() {
        Value::String(text) => text,
        other => panic!("{other:?} is not a string"),
    }
}

/// Parses a time such as `25s` or `1.5s`.
fn duration(text: &str) -> Duration {
    let seconds = text.strip_suffix('s').and_then(|number| number.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or_else(|| panic!("{text} is not a time")))
}

const DRIVER: &str = "org.freedesktop.DBus";
const DRIVER_PATH: &str = "/org/freedesktop/DBus";

const FLAGS: [(Flags, &str); 4] = [
    (Flags::NO_REPLY_EXPECTED, "no-reply"),
    (Flags::NO_AUTO_START, "no-auto-start"),
    (Flags::ALLOW_INTERACTIVE_AUTHORIZATION, "interactive"),
    (Flags::LANE_REPLY, "lane-reply"),
];
