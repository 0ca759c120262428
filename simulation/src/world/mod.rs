//! Everybody: who connects, what they do, and what the oracle says to that.

mod act;
mod check;
mod choice;
mod message;
mod speak;
mod totals;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use kernel::machine::{self, Chance, MachineActivity, SocketId};
use testkit::model::ModelRule;
use wire::Message;
use wire::body::Value;
use wire::message::MessageType;

pub use choice::rules;

use crate::oracle::Oracle;
use crate::peer::SimulatedPeer;
use crate::setting::{Feature, SimulationSetting};
use crate::who::SimulatedUser;
use message::{call_bus, hello, shown, strings};

/// What a run is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldPlan {
    /// From which everything follows.
    pub seed: u64,
    /// How many steps are taken until all read what is left, and leave.
    pub steps: usize,
    /// How many are there at the same time.
    pub peers: usize,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorldTally {
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
enum WorldPhase {
    /// The monitor connects, and nobody else is there.
    Opening,
    /// Everybody does anything.
    Busy,
    /// Nothing more is said; everybody reads.
    Quiet,
    /// As long has passed as anything may take.
    Patient,
    /// The bus is asked what each has lost.
    Asking,
    /// All but the monitor leave.
    Leaving,
    /// The bus is asked what is left of them.
    Counting,
    /// All is done.
    Over,
}

/// Everybody but the daemon.
#[derive(Debug)]
pub struct SimulatedWorld {
    plan: WorldPlan,
    setting: SimulationSetting,
    chance: Chance,
    phase: WorldPhase,
    monitor: SimulatedPeer,
    peers: Vec<SimulatedPeer>,
    /// Those who have left and of whom not all was compared yet.
    former: Vec<SimulatedPeer>,
    oracle: Oracle,
    rules: Vec<ModelRule>,
    tally: Rc<RefCell<WorldTally>>,
    /// The processes of services that have come.
    arrived: BTreeSet<u32>,
    /// Services that have connected and take their name when they have read something.
    late: Vec<(SocketId, &'static str)>,
    /// What the daemon had open when only the monitor was there.
    open_before: usize,
    /// Connections to which the kernel does not take every write, and their numbers.
    failing: BTreeMap<SocketId, u64>,
    /// What was routed last.
    latest: VecDeque<Vec<u8>>,
    /// Whose turn it is where one comes after the other.
    turn: usize,
    /// Turns in which nothing happened.
    idle: usize,
}

impl SimulatedWorld {
    /// A world of this plan, and where it writes what happens.
    pub fn later(plan: WorldPlan) -> (Lazy, Rc<RefCell<WorldTally>>) {
        let tally = Rc::new(RefCell::new(WorldTally::default()));
        (Lazy { plan, world: None, tally: Rc::clone(&tally) }, tally)
    }

    fn begin(plan: WorldPlan, tally: Rc<RefCell<WorldTally>>) -> Self {
        let setting = SimulationSetting::of(plan.seed);
        let mut monitor = SimulatedPeer::connect(2, SUPERVISOR, MONITOR_CAPACITY);
        machine::with(|machine| machine.receive_at_once(monitor.socket));
        let serial = monitor.next_serial();
        monitor.send(hello(serial));
        let serial = monitor.next_serial();
        let args = [strings(&[]), Value::Uint32(0)];
        monitor.send(call_bus("Monitoring.BecomeMonitor", serial, &args));
        Self {
            plan,
            setting,
            chance: Chance::new(plan.seed ^ 0x5eed),
            phase: WorldPhase::Opening,
            monitor,
            peers: Vec::new(),
            former: Vec::new(),
            oracle: Oracle::new(setting),
            rules: rules_of(setting),
            tally,
            arrived: BTreeSet::new(),
            late: Vec::new(),
            open_before: 0,
            failing: BTreeMap::new(),
            latest: VecDeque::new(),
            turn: 0,
            idle: 0,
        }
    }

    fn step(&mut self) -> MachineActivity {
        let acted = match self.phase {
            WorldPhase::Opening => self.open(),
            WorldPhase::Busy => self.be_busy(),
            WorldPhase::Over => return MachineActivity::Ended,
            _ => self.be_quiet(),
        };
        if acted {
            self.idle = 0;
            return MachineActivity::Acted;
        }
        self.idle += 1;
        if self.idle > IDLE_MAX {
            self.idle = 0;
            self.next_phase();
        }
        MachineActivity::Idle
    }

    fn open(&mut self) -> bool {
        self.monitor.flush(usize::MAX) | self.monitor.read(usize::MAX)
    }

    /// What became of the monitor's own name comes behind the answers to it.
    fn begin_busily(&mut self) -> WorldPhase {
        let answers = self.monitor.received.iter().filter(|arrival| {
            Message::parse(arrival.bytes())
                .is_ok_and(|one| one.message_type() == MessageType::MethodReturn)
        });
        if answers.count() < 2 {
            self.fail("the monitor is not served");
        }
        self.monitor.received.clear();
        self.open_before = machine::with(machine::SimulatedMachine::open_count);
        WorldPhase::Busy
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
        self.phase == WorldPhase::Quiet && self.attend_services()
    }

    fn next_phase(&mut self) {
        self.phase = match self.phase {
            WorldPhase::Opening => self.begin_busily(),
            WorldPhase::Busy => WorldPhase::Busy,
            WorldPhase::Quiet => {
                machine::with(|machine| machine.pass(PATIENCE));
                WorldPhase::Patient
            }
            WorldPhase::Patient => {
                self.check_all();
                machine::with(machine::SimulatedMachine::end_shortages);
                self.ask_for_accounts();
                WorldPhase::Asking
            }
            WorldPhase::Asking => {
                self.check_all();
                self.check_accounts();
                for peer in &mut self.peers {
                    peer.leave();
                }
                machine::with(machine::SimulatedMachine::end_all);
                WorldPhase::Leaving
            }
            WorldPhase::Leaving => {
                self.check_gone();
                self.ask_for_totals();
                WorldPhase::Counting
            }
            WorldPhase::Counting => {
                self.check_totals();
                self.tally.borrow_mut().is_done = true;
                WorldPhase::Over
            }
            WorldPhase::Over => WorldPhase::Over,
        };
    }

    /// The monitor reads, and what it reads is told to the oracle.
    fn listen(&mut self) -> bool {
        for write in machine::with(machine::SimulatedMachine::take_failed_writes) {
            self.oracle.failed_write(self.failing[&write.socket], &write.bytes);
        }
        let acted = self.monitor.read(usize::MAX);
        if self.monitor.is_closed {
            self.fail("the monitor is not wanted any longer");
        }
        for arrival in std::mem::take(&mut self.monitor.received) {
            let bytes = arrival.bytes();
            self.tally.borrow_mut().routed += 1;
            if self.latest.len() >= LATEST_MAX {
                self.latest.pop_front();
            }
            self.latest.push_back(bytes.to_vec());
            if let Err(wrong) = self.oracle.routed(bytes) {
                self.fail(&format!("{wrong}: {}", shown(bytes)));
            }
        }
        if self.chance.once_in(COMPARE_ONCE_IN) {
            self.compare(self.oracle.unsettled());
        }
        acted
    }
}

/// A world that begins when it acts first: when the machine is there.
#[derive(Debug)]
pub struct Lazy {
    plan: WorldPlan,
    world: Option<SimulatedWorld>,
    tally: Rc<RefCell<WorldTally>>,
}

impl machine::KernelWorld for Lazy {
    fn act(&mut self) -> MachineActivity {
        let begin = || SimulatedWorld::begin(self.plan, Rc::clone(&self.tally));
        self.world.get_or_insert_with(begin).step()
    }
}

/// Longer than the bus waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who looks at the bus in the beginning and in the end: root, who shares no limit with others.
const SUPERVISOR: SimulatedUser = SimulatedUser { uid: 0, passes_descriptors: true };

/// Bytes that may be under way to the monitor.
const MONITOR_CAPACITY: usize = 1 << 20;

/// How often the monitor reads until it is compared.
const COMPARE_ONCE_IN: usize = 16;

/// The rules that anybody asks for on a bus that is set up so.
fn rules_of(setting: SimulationSetting) -> Vec<ModelRule> {
    let is_asked_for = |rule: &ModelRule| !rule.eavesdrops || setting.has(Feature::Eavesdroppers);
    rules().into_iter().filter(is_asked_for).collect()
}

/// Messages that are shown if something is wrong.
const LATEST_MAX: usize = 20;

/// Turns without anything that are the end of a phase: so often time passes.
const IDLE_MAX: usize = 20;
