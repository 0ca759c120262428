//! Programs with direct lanes between them.
//!
//! ```text
//!  programs ── simulated connections ──▶ the daemon
//!     └─────── lanes: real sockets ──────┘
//! ```
//!
//! Programs use the core of the client library. They exchange messages at random, while others
//! disconnect, monitors come and go, the policy changes and the daemon is replaced. Each action is
//! one system call of one program, so anything can happen between two of them. Each message tells
//! what its sender knew. Nobody may receive a message before one that its sender knew of, nothing
//! may be lost or arrive twice, each call gets its reply, and a monitor sees everything.

mod knowledge;
mod observer;
mod program;
mod traffic;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use client::ReceivedMessage;
use client::core::{CallHandle, LaneUse, MessageDisposition, SubscriptionId};
use kernel::machine::{self, Chance, KernelWorld, MachineActivity};
use kernel::signals::ProcessSignal;

use self::knowledge::LaneKnowledge;
use self::observer::LaneObserver;
use self::program::{ConnectionStage, NewConnection, ProgramConnection};
use crate::idle::IdleSteps;
use crate::series::Tally;
use crate::world::WorldPlan;

/// The statistics of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaneTally {
    /// The number of random steps.
    pub steps: usize,
    /// The number of messages that programs sent to each other.
    pub sent: usize,
    /// The number of those that arrived.
    pub received: usize,
    /// The number of messages that were sent on lanes.
    pub on_lanes: usize,
    /// The number of ends of lanes that were opened.
    pub opened: usize,
    /// The number of monitors.
    pub monitors: usize,
    /// The number of times that the daemon was replaced.
    pub replacements: usize,
    /// True if the run reached its end and all checks passed.
    pub is_done: bool,
}

impl Tally for LaneTally {
    fn steps(&self) -> usize {
        self.steps
    }

    fn add(&mut self, run: &Self) {
        self.steps += run.steps;
        self.sent += run.sent;
        self.received += run.received;
        self.on_lanes += run.on_lanes;
        self.opened += run.opened;
        self.monitors += run.monitors;
        self.replacements += run.replacements;
    }
}

/// One program of the world.
struct WorldProgram {
    number: u32,
    /// True if few bytes can be in transit to and from the bus.
    is_narrow: bool,
    state: ProgramState,
    knowledge: LaneKnowledge,
}

enum ProgramState {
    /// `None` only while the handshake advances.
    Connecting(Option<Box<NewConnection>>),
    Connected(Box<ActiveProgram>),
}

struct ActiveProgram {
    connection: ProgramConnection,
    subscription: SubscriptionId,
    /// True once the bus has confirmed the subscription.
    is_subscribed: bool,
    /// True if all messages that were read are processed, so more can be read.
    is_processed: bool,
    lane_use: LaneUse,
    /// Calls of the bus.
    bus_calls: BTreeMap<CallHandle, BusCall>,
    /// Calls that wait for their reply, with the number of the called program; `None` if a name was
    /// called.
    pending: BTreeMap<CallHandle, Option<u32>>,
    /// Calls to answer, with the number of the caller.
    requests: Vec<(ReceivedMessage, u32)>,
    /// When this program got the name the last time: the count of its owners.
    last_owned: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BusCall {
    Subscribe,
    RequestName,
    ReleaseName,
}

/// The phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LanePhase {
    Active,
    /// Programs send what is queued, read everything and answer all calls.
    Draining,
    Disconnecting,
    Done,
}

/// All programs with lanes.
pub struct LaneWorld {
    plan: WorldPlan,
    chance: Chance,
    phase: LanePhase,
    programs: Vec<WorldProgram>,
    next_program: u32,
    next_message: u64,
    /// The messages of the programs that have left have no effect any more.
    departed: BTreeSet<u32>,
    observer: Option<LaneObserver>,
    /// The numbers of the messages that were received since the monitor saw everything.
    received: BTreeSet<u64>,
    /// How often the name has got an owner.
    name_owners: u64,
    /// How often the policy was read.
    reloads: usize,
    idle: IdleSteps,
    /// The rest of a pause, in steps: programs only read, and send what is queued.
    quiet: usize,
    tally: Rc<RefCell<LaneTally>>,
}

impl LaneWorld {
    /// Creates a world of this plan and the statistics that it updates.
    pub fn new(plan: WorldPlan) -> (Self, Rc<RefCell<LaneTally>>) {
        let tally = Rc::new(RefCell::new(LaneTally::default()));
        let world = Self {
            plan,
            chance: Chance::new(plan.seed ^ 0x1a9e),
            phase: LanePhase::Active,
            programs: Vec::new(),
            next_program: 0,
            next_message: 0,
            departed: BTreeSet::new(),
            observer: None,
            received: BTreeSet::new(),
            name_owners: 0,
            reloads: 0,
            idle: IdleSteps::default(),
            quiet: 0,
            tally: Rc::clone(&tally),
        };
        (world, tally)
    }

    fn step(&mut self) -> MachineActivity {
        let acted = match self.phase {
            LanePhase::Active => self.act_randomly(),
            LanePhase::Draining => self.drain(),
            LanePhase::Disconnecting => false,
            LanePhase::Done => return MachineActivity::Ended,
        };
        if self.idle.end_phase(acted) {
            self.next_phase();
        }
        if acted { MachineActivity::Acted } else { MachineActivity::Idle }
    }

    fn act_randomly(&mut self) -> bool {
        let steps = {
            let mut tally = self.tally.borrow_mut();
            tally.steps += 1;
            tally.steps
        };
        if steps >= self.plan.steps {
            self.phase = LanePhase::Draining;
            self.connected().for_each(|(_, program)| program.connection.widen());
            return true;
        }
        if self.programs.len() < 2
            || (self.programs.len() < self.plan.peers && self.chance.once_in(30))
        {
            self.connect();
            return true;
        }
        let place = self.chance.below(self.programs.len());
        if self.quiet > 0 {
            self.quiet -= 1;
            while self.catch_up(place) {}
            self.flush(place, usize::MAX);
            return true;
        }
        match self.chance.below(1000) {
            0 if self.chance.once_in(3) => self.leave(place),
            // What keeps programs from having lanes lasts less long than its absence.
            1..5 if self.observer.is_some() || self.chance.once_in(20) => self.watch_or_leave(),
            5..10 if self.is_strict() || self.chance.once_in(30) => {
                self.reloads += 1;
                machine::with(|machine| machine.send_signal(ProcessSignal::HangUp));
            }
            // Messages go to the bus until it has routed those before them.
            10..25 => self.quiet = 60,
            25..35 => self.change_lane_use(place),
            35 => machine::with(|machine| machine.send_signal(ProcessSignal::Reexecute)),
            36..60 => {
                if let Some(observer) = &mut self.observer {
                    observer.read(self.next_message);
                }
            }
            60..250 => {
                let most = self.amount();
                self.flush(place, most);
            }
            250..500 => self.read(place),
            500..700 => {
                self.process(place);
            }
            // Many programs process everything before they send again.
            700..750 => while self.catch_up(place) {},
            750..800 => self.answer(place),
            _ => {
                if self.chance.once_in(2) {
                    self.flush(place, usize::MAX);
                }
                self.send_random(place);
                if self.chance.once_in(2) {
                    self.flush(place, usize::MAX);
                }
            }
        }
        true
    }

    /// True if the policy forbids some messages since its last change.
    const fn is_strict(&self) -> bool {
        self.reloads % 2 == 1
    }

    fn connect(&mut self) {
        let number = self.next_program;
        self.next_program += 1;
        let capacity = match self.chance.below(4) {
            0 => 100 + self.chance.below(NARROW_MAX),
            _ => 200_000,
        };
        let connection = NewConnection::open(100 + number, capacity);
        self.programs.push(WorldProgram {
            number,
            is_narrow: capacity <= 100 + NARROW_MAX,
            state: ProgramState::Connecting(Some(Box::new(connection))),
            knowledge: LaneKnowledge::default(),
        });
    }

    fn leave(&mut self, place: usize) {
        let program = self.programs.swap_remove(place);
        self.departed.insert(program.number);
        match program.state {
            ProgramState::Connecting(connection) => {
                connection.into_iter().for_each(|connection| connection.close());
            }
            ProgramState::Connected(connected) => connected.connection.close(),
        }
    }

    /// Connects a monitor. If there is one, it disconnects.
    fn watch_or_leave(&mut self) {
        match self.observer.take() {
            Some(observer) => observer.leave(),
            None => {
                self.observer = Some(LaneObserver::connect());
                self.received.clear();
                self.tally.borrow_mut().monitors += 1;
            }
        }
    }

    fn change_lane_use(&mut self, place: usize) {
        let Self { programs, chance, .. } = self;
        let ProgramState::Connected(program) = &mut programs[place].state else { return };
        program.lane_use = match program.lane_use {
            LaneUse::On if chance.once_in(30) => LaneUse::Off,
            _ => LaneUse::On,
        };
        let ProgramConnection { core, name, .. } = &mut program.connection;
        core.set_lane_use(program.lane_use, name.as_name());
    }

    /// The programs whose handshake is complete, with their numbers.
    fn connected(&mut self) -> impl Iterator<Item = (u32, &mut ActiveProgram)> {
        self.programs.iter_mut().filter_map(|program| match &mut program.state {
            ProgramState::Connecting(_) => None,
            ProgramState::Connected(connected) => Some((program.number, &mut **connected)),
        })
    }

    /// Sends at most this number of bytes. Returns true if anything was sent.
    fn flush(&mut self, place: usize, most: usize) -> bool {
        let ProgramState::Connected(program) = &mut self.programs[place].state else {
            return self.advance(place, most);
        };
        let acted = program.connection.flush(most);
        self.tally.borrow_mut().on_lanes += std::mem::take(&mut program.connection.on_lanes);
        acted
    }

    /// Continues the handshake of a program. Returns true if anything was sent or read.
    fn advance(&mut self, place: usize, most: usize) -> bool {
        let program = &mut self.programs[place];
        let ProgramState::Connecting(connection) = &mut program.state else { return false };
        match connection.take().expect("it is only taken here").advance(most) {
            (ConnectionStage::New(connection), acted) => {
                program.state = ProgramState::Connecting(Some(Box::new(connection)));
                acted
            }
            (ConnectionStage::Established(connection), _) => {
                program.state = ProgramState::Connected(Box::new(ActiveProgram::new(connection)));
                true
            }
        }
    }

    /// Reads once, from the bus or from a lane.
    fn read(&mut self, place: usize) {
        let most = self.amount();
        let Self { programs, chance, .. } = self;
        let ProgramState::Connected(program) = &mut programs[place].state else { return };
        if !program.is_processed {
            return;
        }
        let connection = &mut program.connection;
        let lanes = connection.readable_lanes();
        let must_read = connection.core.must_read_lanes();
        program.is_processed &= !match lanes.len() {
            0 => connection.read_bus(most),
            _ if !must_read && chance.once_in(2) => connection.read_bus(most),
            count => {
                // Even if it found nothing, a message that waits can be processed now.
                connection.read_lane(lanes[chance.below(count)]) | must_read
            }
        };
        self.check_connection(place);
    }

    /// Processes everything that was read, and reads. Returns true if there was anything.
    fn catch_up(&mut self, place: usize) -> bool {
        if let ProgramState::Connecting(_) = self.programs[place].state {
            return self.advance(place, usize::MAX);
        }
        let mut acted = false;
        while self.process(place) {
            acted = true;
        }
        let ProgramState::Connected(program) = &mut self.programs[place].state else {
            return acted;
        };
        let connection = &mut program.connection;
        loop {
            let must_read = connection.core.must_read_lanes();
            let lanes = connection.readable_lanes();
            let mut has_read = false;
            for key in lanes {
                has_read |= connection.read_lane(key);
            }
            if !must_read {
                has_read |= connection.read_bus(usize::MAX);
            }
            program.is_processed &= !(has_read | must_read);
            acted |= has_read | must_read;
            if !connection.core.must_read_lanes() {
                break;
            }
        }
        self.check_connection(place);
        acted
    }

    fn check_connection(&self, place: usize) {
        let program = &self.programs[place];
        if let ProgramState::Connected(connected) = &program.state
            && connected.connection.has_ended
        {
            self.fail(&format!("the bus disconnected program {}", program.number));
        }
    }

    /// Processes the next message. Returns true if there was one.
    fn process(&mut self, place: usize) -> bool {
        let WorldProgram { state, .. } = &mut self.programs[place];
        let ProgramState::Connected(program) = state else { return false };
        let before = program.connection.lane_count();
        let disposition = program.connection.next_message();
        let opened = program.connection.lane_count().saturating_sub(before);
        self.tally.borrow_mut().opened += opened;
        match disposition {
            None => {
                program.is_processed = true;
                if let Some(ended) = program.connection.core.ended() {
                    self.fail(&format!("program {place} has disconnected: {ended}"));
                }
                return false;
            }
            Some(MessageDisposition::Ignored | MessageDisposition::Reconnected) => {}
            Some(MessageDisposition::Reply(call)) => self.take_reply(place, call),
            Some(MessageDisposition::Signal { .. }) => self.take_signal(place),
            Some(MessageDisposition::Request) => self.take_request(place),
        }
        true
    }

    /// Lets all programs send, read and answer everything. Returns true if any did anything.
    fn drain(&mut self) -> bool {
        let mut acted = false;
        for place in 0..self.programs.len() {
            acted |= self.catch_up(place);
            self.answer(place);
            acted |= self.flush(place, usize::MAX);
        }
        if let Some(observer) = &mut self.observer {
            acted |= observer.read(self.next_message);
        }
        acted
    }

    fn next_phase(&mut self) {
        self.phase = match self.phase {
            LanePhase::Active => LanePhase::Active,
            LanePhase::Draining => {
                self.check();
                while !self.programs.is_empty() {
                    self.leave(0);
                }
                self.observer.take().into_iter().for_each(LaneObserver::leave);
                LanePhase::Disconnecting
            }
            LanePhase::Disconnecting => {
                let count = machine::with(|machine| machine.connection_count());
                if count > 0 {
                    self.fail("the bus keeps connections of programs that have left");
                }
                self.tally.borrow_mut().is_done = true;
                LanePhase::Done
            }
            LanePhase::Done => LanePhase::Done,
        };
    }

    /// Checks that everything has arrived.
    fn check(&mut self) {
        let is_watched = self.observer.is_some();
        let numbers: Vec<u32> = self.programs.iter().map(|program| program.number).collect();
        for program in &self.programs {
            let ProgramState::Connected(connected) = &program.state else {
                self.fail(&format!("program {} is not connected", program.number));
            };
            if !connected.pending.is_empty() {
                self.fail(&format!(
                    "program {} got no reply to {:?}",
                    program.number, connected.pending
                ));
            }
            for sender in &self.programs {
                let sent = sender.knowledge.sent(sender.number, program.number);
                let received = program.knowledge.received(sender.number);
                if sent != received {
                    self.fail(&format!(
                        "program {} has got {received} of {sent} messages of {}",
                        program.number, sender.number
                    ));
                }
            }
            let lanes = connected.connection.lane_count();
            if lanes > 0 && (is_watched || self.is_strict()) {
                self.fail(&format!("program {} has {lanes} lanes", program.number));
            }
        }
        if let Some(observer) = &self.observer
            && let Some(missed) = self.received.iter().find(|number| observer.has_missed(**number))
        {
            self.fail(&format!("the monitor has not seen message {missed}, of {numbers:?}"));
        }
    }

    /// Returns how many bytes a program sends or reads at once: often all, sometimes one.
    fn amount(&mut self) -> usize {
        match self.chance.below(4) {
            0 => 1 + self.chance.below(16),
            1 => 1 + self.chance.below(600),
            _ => usize::MAX,
        }
    }

    fn fail(&self, what: &str) -> ! {
        let journal: Vec<String> =
            machine::with(|machine| machine.journal().map(str::to_owned).collect());
        panic!(
            "{what}\nRepeat it with DILIGENCE_WORLD={}\nthe journal ends with\n{}",
            self.plan,
            journal.join("\n")
        );
    }
}

impl KernelWorld for LaneWorld {
    fn act(&mut self) -> MachineActivity {
        self.step()
    }
}

impl ActiveProgram {
    fn new(mut connection: ProgramConnection) -> Self {
        let rule = traffic::rule();
        let (subscription, call) =
            connection.core.subscribe(rule, None).expect("the connection lives");
        let call = call.expect("the first subscription with this rule");
        Self {
            connection,
            subscription,
            is_subscribed: false,
            is_processed: false,
            lane_use: LaneUse::On,
            bus_calls: BTreeMap::from([(call, BusCall::Subscribe)]),
            pending: BTreeMap::new(),
            requests: Vec::new(),
            last_owned: 0,
        }
    }
}

/// The number of bytes in transit to and from some programs, which block often.
const NARROW_MAX: usize = 2000;
