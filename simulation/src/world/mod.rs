//! The world: all peers, their actions, and the comparison with the oracle.

mod actions;
mod check;
mod containers;
mod message;
mod send;
mod totals;
mod vocabulary;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::num::ParseIntError;
use std::rc::Rc;
use std::str::FromStr;
use std::time::Duration;

use kernel::machine::{self, Chance, MachineActivity, SocketId};
use testkit::model::ModelRule;
use wire::Message;
use wire::body::Value;
use wire::message::MessageType;

pub use vocabulary::rules;

use crate::idle::IdleSteps;
use crate::oracle::Oracle;
use crate::peer::SimulatedPeer;
use crate::series::Tally;
use crate::setting::{Feature, SimulationSetting};
use crate::user::SimulatedUser;
use containers::KnownContainers;
use message::shown;
pub(crate) use message::{call_bus, hello, strings};

/// The parameters of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldPlan {
    /// The seed that determines all random decisions.
    pub seed: u64,
    /// The number of random steps until all peers read the rest and disconnect.
    pub steps: usize,
    /// The most peers that are connected at the same time.
    pub peers: usize,
}

impl fmt::Display for WorldPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.seed, self.steps, self.peers)
    }
}

/// Reads the plan that a failure shows.
impl FromStr for WorldPlan {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let mut parts = text.split(':');
        let mut next = || parts.next().unwrap_or_default();
        Ok(Self { seed: next().parse()?, steps: next().parse()?, peers: next().parse()? })
    }
}

/// The statistics of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorldTally {
    /// The number of random steps.
    pub steps: usize,
    /// The number of connections that were made.
    pub connections: usize,
    /// The number of those that were made to containers.
    pub contained: usize,
    /// The number of messages that were routed.
    pub routed: usize,
    /// The number of messages that arrived as expected.
    pub delivered: usize,
    /// The number of messages that were lost, as the bus reported.
    pub lost: usize,
    /// The number of times that the daemon was replaced.
    pub replacements: usize,
    /// True if the run reached its end and all checks passed.
    pub is_done: bool,
}

impl Tally for WorldTally {
    fn steps(&self) -> usize {
        self.steps
    }

    fn add(&mut self, run: &Self) {
        self.steps += run.steps;
        self.connections += run.connections;
        self.contained += run.contained;
        self.routed += run.routed;
        self.delivered += run.delivered;
        self.lost += run.lost;
        self.replacements += run.replacements;
    }
}

/// The phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WorldPhase {
    /// Only the monitor is connected, and becomes a monitor.
    Setup,
    /// All peers perform random actions.
    Active,
    /// Peers send what is queued and read everything, but do nothing new.
    Draining,
    /// The time for all timeouts has passed.
    TimedOut,
    /// Each peer asks the bus how many messages it lost.
    PeerStatistics,
    /// All peers except the monitor disconnect.
    Disconnecting,
    /// A new peer asks the bus for the remaining totals.
    Totals,
    /// The run is complete.
    Done,
}

/// All peers and services of the daemon.
#[derive(Debug)]
pub struct SimulatedWorld {
    plan: WorldPlan,
    setting: SimulationSetting,
    chance: Chance,
    phase: WorldPhase,
    monitor: SimulatedPeer,
    peers: Vec<SimulatedPeer>,
    /// Peers that have disconnected, while their messages are not all compared.
    departed: Vec<SimulatedPeer>,
    oracle: Oracle,
    rules: Vec<ModelRule>,
    tally: Rc<RefCell<WorldTally>>,
    /// The processes of services that have connected.
    connected_services: BTreeSet<u32>,
    /// Services that have connected and request their name after they have a unique name.
    unnamed_services: Vec<(SocketId, &'static str)>,
    /// The number of descriptors that the daemon had open with only the monitor connected.
    open_before: usize,
    containers: KnownContainers,
    /// Connections with failing writes enabled, with the numbers in their unique names.
    failing: BTreeMap<SocketId, u64>,
    /// The messages that were routed last, for a failure report.
    latest: VecDeque<Vec<u8>>,
    /// The index of the peer whose turn it is.
    turn: usize,
    /// The number of steps in a row without any action.
    idle: IdleSteps,
}

impl SimulatedWorld {
    /// Creates a world of this plan and the statistics that it updates.
    pub fn lazy(plan: WorldPlan) -> (LazyWorld, Rc<RefCell<WorldTally>>) {
        let tally = Rc::new(RefCell::new(WorldTally::default()));
        (LazyWorld { plan, world: None, tally: Rc::clone(&tally) }, tally)
    }

    fn begin(plan: WorldPlan, tally: Rc<RefCell<WorldTally>>) -> Self {
        let setting = SimulationSetting::of(plan.seed);
        let mut monitor = SimulatedPeer::connect(2, ROOT_PEER, MONITOR_CAPACITY);
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
            phase: WorldPhase::Setup,
            monitor,
            peers: Vec::new(),
            departed: Vec::new(),
            oracle: Oracle::new(setting),
            rules: rules_of(setting),
            tally,
            connected_services: BTreeSet::new(),
            unnamed_services: Vec::new(),
            open_before: 0,
            containers: KnownContainers::default(),
            failing: BTreeMap::new(),
            latest: VecDeque::new(),
            turn: 0,
            idle: IdleSteps::default(),
        }
    }

    fn step(&mut self) -> MachineActivity {
        let acted = match self.phase {
            WorldPhase::Setup => self.set_up(),
            WorldPhase::Active => self.act_randomly(),
            WorldPhase::Done => return MachineActivity::Ended,
            _ => self.drain(),
        };
        if self.idle.end_phase(acted) {
            self.next_phase();
        }
        if acted { MachineActivity::Acted } else { MachineActivity::Idle }
    }

    fn set_up(&mut self) -> bool {
        self.monitor.flush(usize::MAX) | self.monitor.read(usize::MAX)
    }

    /// Ends the setup, after both replies have arrived. Signals about the monitor's own names come
    /// after them.
    fn end_setup(&mut self) -> WorldPhase {
        let answers = self.monitor.received.iter().filter(|arrival| {
            Message::parse(arrival.bytes())
                .is_ok_and(|one| one.message_type() == MessageType::MethodReturn)
        });
        if answers.count() < 2 {
            self.fail("the monitor did not receive the replies to Hello and BecomeMonitor");
        }
        self.monitor.received.clear();
        self.open_before = machine::with(machine::SimulatedMachine::open_count);
        WorldPhase::Active
    }

    /// Lets one peer send and read what it can. Returns false if no peer has done anything for a
    /// whole round.
    fn drain(&mut self) -> bool {
        for _ in 0..=self.peers.len() {
            self.turn = (self.turn + 1) % (self.peers.len() + 1);
            let acted = match self.peers.get_mut(self.turn) {
                Some(peer) if peer.has_left => false,
                Some(peer) => peer.flush(usize::MAX) | peer.read(usize::MAX),
                None => self.read_monitor(),
            };
            if acted {
                return true;
            }
        }
        self.phase == WorldPhase::Draining && self.run_services()
    }

    fn next_phase(&mut self) {
        self.phase = match self.phase {
            WorldPhase::Setup => self.end_setup(),
            WorldPhase::Active => WorldPhase::Active,
            WorldPhase::Draining => {
                machine::with(|machine| machine.pass(LONGER_THAN_TIMEOUTS));
                WorldPhase::TimedOut
            }
            WorldPhase::TimedOut => {
                self.check_all();
                machine::with(machine::SimulatedMachine::end_shortages);
                self.request_statistics();
                WorldPhase::PeerStatistics
            }
            WorldPhase::PeerStatistics => {
                self.check_all();
                self.check_statistics();
                for peer in &mut self.peers {
                    peer.leave();
                }
                machine::with(machine::SimulatedMachine::end_all);
                WorldPhase::Disconnecting
            }
            WorldPhase::Disconnecting => {
                self.check_gone();
                self.request_totals();
                WorldPhase::Totals
            }
            WorldPhase::Totals => {
                self.check_totals();
                self.tally.borrow_mut().is_done = true;
                WorldPhase::Done
            }
            WorldPhase::Done => WorldPhase::Done,
        };
    }

    /// Lets the monitor read, and passes the messages to the oracle.
    fn read_monitor(&mut self) -> bool {
        for write in machine::with(machine::SimulatedMachine::take_failed_writes) {
            self.oracle.failed_write(self.failing[&write.socket], &write.bytes);
        }
        let acted = self.monitor.read(usize::MAX);
        if self.monitor.is_closed {
            self.fail("the bus closed the connection of the monitor");
        }
        for arrival in std::mem::take(&mut self.monitor.received) {
            let bytes = arrival.bytes();
            self.tally.borrow_mut().routed += 1;
            if self.latest.len() >= LATEST_MAX {
                self.latest.pop_front();
            }
            self.latest.push_back(bytes.to_vec());
            if let Err(deviation) = self.oracle.routed(bytes) {
                self.fail(&format!("{deviation}: {}", shown(bytes)));
            }
        }
        if self.chance.once_in(COMPARE_ONCE_IN) {
            self.compare(self.oracle.unsettled());
        }
        acted
    }
}

/// A world that is created with its first step, because it needs the running machine.
#[derive(Debug)]
pub struct LazyWorld {
    plan: WorldPlan,
    world: Option<SimulatedWorld>,
    tally: Rc<RefCell<WorldTally>>,
}

impl machine::KernelWorld for LazyWorld {
    fn act(&mut self) -> MachineActivity {
        let begin = || SimulatedWorld::begin(self.plan, Rc::clone(&self.tally));
        self.world.get_or_insert_with(begin).step()
    }
}

/// Longer than all timeouts of the bus.
const LONGER_THAN_TIMEOUTS: Duration = Duration::from_secs(60);

/// The user of the monitor and of the peer that asks for totals: root, whose limits are its own.
const ROOT_PEER: SimulatedUser =
    SimulatedUser { uid: 0, passes_descriptors: true, container: None };

/// The capacity of the monitor's connection, in bytes.
const MONITOR_CAPACITY: usize = 1 << 20;

/// 1 in this many reads of the monitor is followed by a comparison.
const COMPARE_ONCE_IN: usize = 16;

/// Returns the rules that peers may add on a bus with these settings.
fn rules_of(setting: SimulationSetting) -> Vec<ModelRule> {
    let is_asked_for = |rule: &ModelRule| !rule.eavesdrops || setting.has(Feature::Eavesdroppers);
    rules().into_iter().filter(is_asked_for).collect()
}

/// The most messages that a failure report shows.
const LATEST_MAX: usize = 20;
