//! Everybody: who connects, what they do, and what the oracle says to that.

mod act;

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use diligence_testkit::model::Rule;
use diligence_testkit::world::{build, driver_method, interface, member, name, path};
use kernel::machine::{self, Activity, Chance};
use wire::Message;
use wire::body::Value;
use wire::message::{Builder, MessageType};

use crate::oracle::{DRIVER, Oracle, id_of};
use crate::peer::{Peer, Stage};
use crate::setting::Setting;

/// What a run is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// From which everything follows.
    pub seed: u64,
    /// How many steps are taken until all read what is left, and leave.
    pub steps: usize,
    /// How many are there at the same time.
    pub peers: usize,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Steps that were taken.
    pub steps: usize,
    /// How many have connected.
    pub connections: usize,
    /// Messages that were routed.
    pub routed: usize,
    /// Messages that came to somebody, and were those that had to come.
    pub delivered: usize,
    /// Messages that somebody did not get, and the bus said so.
    pub lost: usize,
    /// Whether everything was done and checked.
    pub is_done: bool,
}

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The monitor connects, and nobody else is there.
    Opening,
    /// Everybody does anything.
    Busy,
    /// Nothing more is said; everybody reads.
    Quiet,
    /// The bus is asked what each has lost.
    Asking,
    /// All but the monitor leave.
    Leaving,
    /// It is checked that all is in order.
    Over,
}

/// Everybody but the daemon.
#[derive(Debug)]
pub struct World {
    plan: Plan,
    setting: Setting,
    chance: Chance,
    phase: Phase,
    monitor: Peer,
    peers: Vec<Peer>,
    /// Those who have left and of whom not all was compared yet.
    former: Vec<Peer>,
    oracle: Oracle,
    rules: Vec<Rule>,
    tally: Rc<RefCell<Tally>>,
    /// What the daemon had open when only the monitor was there.
    open_before: usize,
    /// What was routed last.
    latest: VecDeque<Vec<u8>>,
    /// Whose turn it is where one comes after the other.
    turn: usize,
    /// Turns in which nothing happened.
    idle: usize,
}

impl World {
    /// A world of this plan, and where it writes what happens.
    pub fn later(plan: Plan) -> (Lazy, Rc<RefCell<Tally>>) {
        let tally = Rc::new(RefCell::new(Tally::default()));
        (Lazy { plan, world: None, tally: Rc::clone(&tally) }, tally)
    }

    fn begin(plan: Plan, tally: Rc<RefCell<Tally>>) -> Self {
        let setting = Setting::of(plan.seed);
        let mut monitor = Peer::connect(2, MONITOR_CAPACITY);
        let serial = monitor.next_serial();
        monitor.send(hello(serial), 0);
        let serial = monitor.next_serial();
        let args = [strings(&[]), Value::Uint32(0)];
        monitor.send(call_bus("Monitoring.BecomeMonitor", serial, &args), 0);
        Self {
            plan,
            setting,
            chance: Chance::new(plan.seed ^ 0x5eed),
            phase: Phase::Opening,
            monitor,
            peers: Vec::new(),
            former: Vec::new(),
            oracle: Oracle::default(),
            rules: rules(),
            tally,
            open_before: 0,
            latest: VecDeque::new(),
            turn: 0,
            idle: 0,
        }
    }

    fn step(&mut self) -> Activity {
        let acted = match self.phase {
            Phase::Opening => self.open(),
            Phase::Busy => self.be_busy(),
            Phase::Quiet | Phase::Asking | Phase::Leaving => self.be_quiet(),
            Phase::Over => return Activity::Ended,
        };
        if acted {
            self.idle = 0;
            return Activity::Acted;
        }
        self.idle += 1;
        if self.idle > IDLE_MAX {
            self.idle = 0;
            self.next_phase();
        }
        Activity::Idle
    }

    fn open(&mut self) -> bool {
        self.monitor.flush(usize::MAX) | self.monitor.read(usize::MAX)
    }

    /// What became of the monitor's own name comes behind the answers to it.
    fn begin_busily(&mut self) -> Phase {
        let answers = self.monitor.received.iter().filter(|bytes| {
            Message::parse(bytes).is_ok_and(|one| one.message_type() == MessageType::MethodReturn)
        });
        if answers.count() < 2 {
            self.fail("the monitor is not served");
        }
        self.monitor.received.clear();
        self.open_before = machine::with(machine::Machine::open_count);
        Phase::Busy
    }

    /// One after the other sends what is to be sent, and reads. Nothing happens when nothing has
    /// happened for a whole round.
    fn be_quiet(&mut self) -> bool {
        for _ in 0..=self.peers.len() {
            self.turn = (self.turn + 1) % (self.peers.len() + 1);
            let acted = match self.peers.get_mut(self.turn) {
                Some(peer) if peer.has_left => false,
                Some(peer) => peer.flush(usize::MAX) | peer.read(usize::MAX),
                None => self.listen(),
            };
            if acted {
                return true;
            }
        }
        false
    }

    fn next_phase(&mut self) {
        self.phase = match self.phase {
            Phase::Opening => self.begin_busily(),
            Phase::Busy => Phase::Busy,
            Phase::Quiet => {
                self.check_all();
                self.ask_for_losses();
                Phase::Asking
            }
            Phase::Asking => {
                self.check_all();
                self.check_losses();
                for peer in &mut self.peers {
                    peer.leave();
                }
                Phase::Leaving
            }
            Phase::Leaving => {
                self.check_gone();
                self.tally.borrow_mut().is_done = true;
                Phase::Over
            }
            Phase::Over => Phase::Over,
        };
    }

    /// The monitor reads, and what it reads is told to the oracle.
    fn listen(&mut self) -> bool {
        let acted = self.monitor.read(usize::MAX);
        if self.monitor.is_closed {
            self.fail("the monitor is not wanted any longer");
        }
        for bytes in std::mem::take(&mut self.monitor.received) {
            self.tally.borrow_mut().routed += 1;
            if self.latest.len() >= LATEST_MAX {
                self.latest.pop_front();
            }
            self.latest.push_back(bytes.clone());
            if let Err(wrong) = self.oracle.routed(&bytes) {
                self.fail(&format!("{wrong}: {}", shown(&bytes)));
            }
        }
        if self.chance.once_in(COMPARE_ONCE_IN) {
            self.compare();
        }
        acted
    }

    /// Compares what was said with what was routed, and what came with what had to come.
    fn compare(&mut self) {
        let mut wrong = None;
        for peer in self.peers.iter_mut().chain(&mut self.former) {
            learn_name(peer);
            let Stage::Named(id) = peer.stage else { continue };
            let Some(account) = self.oracle.known(id) else { continue };
            while let Some(heard) = account.heard.pop_front() {
                match peer.sent.pop_front() {
                    Some(sent) if is_forwarded(&sent, &heard, id) => {}
                    sent => {
                        let sent = sent.map(|sent| shown(&sent));
                        wrong = Some(format!(":1.{id} said {sent:?}, and not {}", shown(&heard)));
                    }
                }
            }
            while !peer.received.is_empty()
                && let Some(expected) = account.expected.pop_front()
            {
                if peer.received[0] == expected {
                    peer.received.pop_front();
                    self.tally.borrow_mut().delivered += 1;
                } else if self.setting == Setting::Tight && may_be_lost(&expected) {
                    // It is asked later whether the bus says so, too.
                    peer.lost += 1;
                    self.tally.borrow_mut().lost += 1;
                } else {
                    let (came, expected) = (shown(&peer.received[0]), shown(&expected));
                    wrong = Some(format!(":1.{id} got {came}, and not {expected}"));
                    break;
                }
            }
        }
        if let Some(wrong) = wrong {
            self.fail(&wrong);
        }
        let oracle = &mut self.oracle;
        self.former.retain(|peer| match peer.stage {
            Stage::Named(id) => oracle.known(id).is_none_or(|account| !account.is_gone),
            // Nobody knows how the bus called it.
            Stage::Greeting { .. } | Stage::Nameless => false,
        });
    }

    /// Nobody has to get anything more.
    fn check_all(&mut self) {
        self.compare();
        if let Err(wrong) = self.oracle.settled() {
            self.fail(&wrong);
        }
        let mut wrong = None;
        for peer in self.peers.iter().filter(|peer| peer.is_there()) {
            let Stage::Named(id) = peer.stage else {
                wrong = Some(format!("one has no name: {:?}", peer.stage));
                continue;
            };
            let left = (peer.backlog(), peer.sent.len(), peer.received.len());
            if left != (0, 0, 0) {
                wrong = Some(format!(":1.{id} is not heard, or hears too much: {left:?}"));
            }
            let Some(account) = self.oracle.known(id) else {
                wrong = Some(format!(":1.{id} was never heard of"));
                continue;
            };
            if let Some(missing) = account.expected.front() {
                wrong = Some(format!(":1.{id} did not get {}", shown(missing)));
            }
            if account.is_gone {
                wrong = Some(format!(":1.{id} is there, and was said to be gone"));
            }
        }
        let polite = self.peers.iter().find(|peer| peer.is_closed && !peer.is_rude);
        if let Some(peer) = polite {
            wrong = Some(format!("one was sent away for nothing: {:?}", peer.stage));
        }
        if let Some(wrong) = wrong {
            self.fail(&wrong);
        }
    }

    /// Everybody who is there asks what was not given to it.
    fn ask_for_losses(&mut self) {
        for peer in self.peers.iter_mut().filter(|peer| peer.is_there()) {
            if let Stage::Named(id) = peer.stage {
                let serial = peer.next_serial();
                let args = [Value::from(format!(":1.{id}").as_str())];
                peer.take_unseen();
                peer.send(call_bus("Debug.Stats.GetConnectionStats", serial, &args), 0);
            }
        }
    }

    /// What the bus says that somebody has lost is what did not come.
    fn check_losses(&mut self) {
        let mut wrong = None;
        for peer in self.peers.iter_mut().filter(|peer| peer.is_there()) {
            let answers = peer.take_unseen();
            let said = answers.iter().find_map(|bytes| losses(&Message::parse(bytes).ok()?));
            if said != Some(peer.lost) {
                wrong = Some(format!(
                    "{:?} did not get {} messages, and the bus says {said:?}",
                    peer.stage, peer.lost
                ));
            }
        }
        if let Some(wrong) = wrong {
            self.fail(&wrong);
        }
    }

    /// All have left, and it was told of all.
    fn check_gone(&mut self) {
        self.compare();
        if let Err(wrong) = self.oracle.settled() {
            self.fail(&wrong);
        }
        let named = self.peers.iter().chain(&self.former).filter_map(|peer| match peer.stage {
            Stage::Named(id) => Some(id),
            _ => None,
        });
        for id in named.collect::<Vec<_>>() {
            if self.oracle.known(id).is_some_and(|account| !account.is_gone) {
                self.fail(&format!(":1.{id} has left, and nobody was told"));
            }
        }
        let connections = machine::with(|machine| machine.connection_count());
        if connections > 1 {
            self.fail(&format!("{connections} connections are left"));
        }
        let open = machine::with(machine::Machine::open_count);
        if open != self.open_before {
            self.fail(&format!("{} descriptors were open, and now {open}", self.open_before));
        }
    }

    /// Ends the run.
    fn fail(&self, why: &str) -> ! {
        let Plan { seed, steps, peers } = self.plan;
        let done = self.tally.borrow().steps;
        let journal = machine::with(|machine| {
            let lines = machine.journal().map(|entry| entry.lines().next().unwrap_or_default());
            lines.map(|line| format!("\n  {line}")).collect::<String>()
        });
        let latest: String = self.latest.iter().map(|one| format!("\n  {}", shown(one))).collect();
        panic!(
            "{why}\n\nrouted last:{latest}\n\nlogged last:{journal}\n\nat step {done}; to see it again: \
             DILIGENCE_WORLD={seed}:{steps}:{peers}"
        );
    }
}

/// A world that begins when it acts first: when the machine is there.
#[derive(Debug)]
pub struct Lazy {
    plan: Plan,
    world: Option<World>,
    tally: Rc<RefCell<Tally>>,
}

impl machine::World for Lazy {
    fn act(&mut self) -> Activity {
        let begin = || World::begin(self.plan, Rc::clone(&self.tally));
        self.world.get_or_insert_with(begin).step()
    }
}

/// What somebody has lost, in the answer to that question.
fn losses(message: &Message<'_>) -> Option<u64> {
    let (all,): (HashMap<&str, Value>,) = message.read().ok()?;
    match all.get("org.diligence.LostMessages")? {
        Value::Variant(inside) => match **inside {
            Value::Uint64(lost) => Some(lost),
            _ => None,
        },
        Value::Uint64(lost) => Some(*lost),
        _ => None,
    }
}

/// Whether nobody is told when a message does not come: signals to all who want them, and what the bus
/// itself says.
fn may_be_lost(bytes: &[u8]) -> bool {
    Message::parse(bytes).is_ok_and(|message| {
        let is_of_bus = message.sender().is_some_and(|name| name.as_str() == DRIVER);
        message.destination().is_none() || is_of_bus
    })
}

/// The name that the first answer tells.
fn learn_name(peer: &mut Peer) {
    if peer.stage != Stage::Nameless {
        return;
    }
    let Some(bytes) = peer.received.front() else { return };
    let message = Message::parse(bytes).expect("it was checked");
    let id = message.destination().and_then(|name| id_of(name.as_str()));
    peer.stage = Stage::Named(id.expect("the first that comes is the answer to Hello"));
}

/// Whether a message is what was sent, with the name of who sent it.
fn is_forwarded(sent: &[u8], heard: &[u8], id: u64) -> bool {
    let (Ok(sent), Ok(heard)) = (Message::parse(sent), Message::parse(heard)) else { return false };
    let what = |one: &Message<'_>| {
        let text = |text: Option<&str>| text.map(str::to_owned);
        (
            (one.message_type(), one.serial(), one.flags().bits(), one.reply_serial()),
            text(one.path().map(|path| path.as_str())),
            text(one.interface().map(|name| name.as_str())),
            text(one.member().map(|name| name.as_str())),
            text(one.destination().map(|name| name.as_str())),
            text(one.error_name().map(|name| name.as_str())),
            (one.unix_fds(), one.signature().as_str().to_owned()),
        )
    };
    let sender = heard.sender().map(|name| name.as_str().to_owned());
    what(&sent) == what(&heard) && sent.body() == heard.body() && sender == Some(format!(":1.{id}"))
}

/// A message, for people.
fn shown(bytes: &[u8]) -> String {
    let Ok(one) = Message::parse(bytes) else { return format!("{bytes:?}") };
    let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
    format!(
        "{} {} -> {} serial {} reply to {} {} {} {} body {} bytes",
        one.message_type(),
        text(one.sender().map(|name| name.as_str())),
        text(one.destination().map(|name| name.as_str())),
        one.serial(),
        one.reply_serial().map_or(0, core::num::NonZero::get),
        text(one.path().map(|path| path.as_str())),
        text(one.interface().map(|name| name.as_str())),
        text(one.member().map(|name| name.as_str()).or(one.error_name().map(|name| name.as_str()))),
        one.body().len(),
    )
}

fn hello(serial: u32) -> Vec<u8> {
    call_bus("Hello", serial, &[])
}

/// A call of a method of the bus.
fn call_bus(method: &str, serial: u32, args: &[Value]) -> Vec<u8> {
    let (of, method) = driver_method(method);
    let call = Builder::method_call(path("/org/freedesktop/DBus"), member(method));
    build(call.interface(interface(&of)).destination(name(DRIVER)), serial, args)
}

fn strings(texts: &[&str]) -> Value {
    let items = texts.iter().map(|text| Value::from(*text)).collect();
    let element = wire::signature::Signature::new("s").expect("it is one");
    Value::Array { element: element.into(), items }
}

/// The rules that anybody asks for.
pub fn rules() -> Vec<Rule> {
    let any = Rule { kind: Some("signal"), ..Rule::default() };
    let mut rules = vec![any.clone()];
    rules.extend(INTERFACES.map(|one| Rule { interface: Some(one), ..any.clone() }));
    rules.extend(MEMBERS.map(|one| Rule { member: Some(one), ..Rule::default() }));
    rules.extend(PATHS.map(|one| Rule { path_namespace: Some(one), ..any.clone() }));
    rules.extend(NAMES.map(|one| Rule { sender: Some(one.to_owned()), ..Rule::default() }));
    rules.extend(WORDS.map(|one| Rule { args: vec![(0, "", one)], ..any.clone() }));
    rules.push(Rule { sender: Some(DRIVER.to_owned()), member: Some("NameOwnerChanged"), ..any });
    rules
}

const INTERFACES: [&str; 3] = ["com.example.One", "com.example.Two", "com.example.Three"];
const MEMBERS: [&str; 3] = ["Changed", "Moved", "Gone"];
const PATHS: [&str; 4] = ["/", "/a", "/a/b", "/c"];
const NAMES: [&str; 5] = ["com.a", "com.b", "com.c", "com.d.e", "com.d.f"];
const WORDS: [&str; 3] = ["one", "two", ""];

/// Bytes that may be under way to the monitor.
const MONITOR_CAPACITY: usize = 1 << 20;

/// How often the monitor reads until it is compared.
const COMPARE_ONCE_IN: usize = 16;

/// Messages that are shown if something is wrong.
const LATEST_MAX: usize = 20;

/// Turns without anything that are the end of a phase: so often time passes.
const IDLE_MAX: usize = 20;
