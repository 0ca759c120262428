//! One run: a daemon from its start until all peers have disconnected.

use std::cell::Cell;
use std::fs;
use std::rc::Rc;

use broker::busconfig::ConfigError;
use broker::event_loop::{
    EventLoop, Loaded, LoopExit, LoopParts, ReadPurpose, Reload, RestoreParts, RestoredLoop,
};
use broker::listen::{ListenEnvironment, listen, parse};
use broker::log::{Log, LogTarget};
use kernel::machine::{self, KernelWorld};
use kernel::rlimit::OpenFiles;
use kernel::signals::{ProcessSignal, SignalSource};
use wire::guid::Guid;

use crate::lanes::{LaneTally, LaneWorld};
use crate::setting::{BUS_SOCKET, Feature, OWNER, SimulatedPolicy, SimulationSetting};
use crate::world::{SimulatedWorld, WorldPlan, WorldTally};

/// Runs the daemon in a world of this plan and checks that it leaves nothing behind.
///
/// # Panics
///
/// Panics if a peer receives a message that the oracle does not expect, or misses an expected one.
/// The message contains the variable that repeats the run.
pub fn run(plan: WorldPlan) -> WorldTally {
    let (world, tally) = SimulatedWorld::lazy(plan);
    let replacements = serve(plan.seed, SimulationSetting::of(plan.seed), Box::new(world));
    let tally = WorldTally { replacements, ..*tally.borrow() };
    assert!(tally.is_done, "the daemon exited before the end of the run");
    tally
}

/// Runs the daemon with programs that have lanes, and checks that it leaves nothing behind.
///
/// # Panics
///
/// Panics if a program receives a message before one that its sender knew of, or misses one. The
/// message contains the variable that repeats the run.
pub fn run_lanes(plan: WorldPlan) -> LaneTally {
    let (world, tally) = LaneWorld::new(plan);
    let setting = SimulationSetting::with(&[Feature::ChangingPolicy]);
    let replacements = serve(plan.seed, setting, Box::new(world));
    let tally = LaneTally { replacements, ..*tally.borrow() };
    assert!(tally.is_done, "the daemon exited before the end of the run");
    tally
}

/// Runs the daemon in a world until all peers have disconnected. Returns how often the daemon was
/// replaced.
fn serve(seed: u64, setting: SimulationSetting, world: Box<dyn KernelWorld>) -> usize {
    // An earlier run that panicked may have left its machine.
    drop(machine::stop());
    let before = descriptors();
    machine::start(seed, world).expect("descriptors");
    if let Some(max) = setting.open_files_max() {
        machine::with(|machine| machine.limit_open_files(max));
    }
    let policies = SuccessivePolicies { setting, policy: Rc::default() };
    let mut event_loop = EventLoop::new(parts(&policies)).expect("an event loop");
    let mut replacements = 0;
    loop {
        match event_loop.run().expect("the event loop runs until SIGTERM") {
            LoopExit::Stopped => break,
            LoopExit::Try => event_loop.accept_replacement(),
            LoopExit::Replace => {
                event_loop = replaced(event_loop, &policies);
                replacements += 1;
            }
        }
    }
    drop(event_loop);
    let open = machine::with(machine::SimulatedMachine::open_count);
    assert_eq!(open, 0, "the daemon left descriptors open");
    let files = machine::with(|machine| machine.socket_files().next().map(str::to_owned));
    assert_eq!(files, None, "the daemon left the file of a socket");
    drop(machine::stop());
    assert_eq!(descriptors(), before, "the run left descriptors open");
    replacements
}

/// Returns how many descriptors this process has. No other test runs in this process.
fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Provides the successive configurations of a setting.
#[derive(Clone)]
struct SuccessivePolicies {
    setting: SimulationSetting,
    policy: Rc<Cell<SimulatedPolicy>>,
}

impl Reload for SuccessivePolicies {
    fn read(&mut self) -> Result<Loaded, ConfigError> {
        self.policy.set(self.policy.get().next(self.setting));
        Ok(self.setting.load(self.policy.get()))
    }

    fn done(&mut self) {}
}

/// Saves an event loop, drops it, and restores it from nothing but its state and its descriptors.
fn replaced(mut old: EventLoop, policies: &SuccessivePolicies) -> EventLoop {
    let (state, fds) = old.save();
    let state = state.encode().expect("a state");
    let take_over = |fd| machine::with(|machine| machine.take_over(fd)).expect("descriptors");
    let fds = fds.into_iter().map(take_over).collect();
    machine::with(|machine| machine.set_executing(true));
    drop(old);
    machine::with(|machine| machine.set_executing(false));
    let restored = RestoredLoop::read(&state, || Ok(fds), ReadPurpose::Continue)
        .expect("the state of an event loop");
    restored.check();
    let parts = RestoreParts {
        mediator: None,
        open_files: OpenFiles::current(),
        reload: Box::new(policies.clone()),
        log: log(),
        signals: signals(),
    };
    EventLoop::restore(restored, parts).expect("an event loop")
}

fn parts(policies: &SuccessivePolicies) -> LoopParts {
    let address = parse(&format!("unix:abstract={BUS_SOCKET}")).expect("an address");
    LoopParts {
        listeners: listen(&address, &mut ListenEnvironment::default()).expect("a free place"),
        identity: bus::BusIdentity {
            id: Guid::from_bytes([7; 16]),
            machine_id: None,
            pid: 1,
            uid: OWNER,
            security_label: None,
        },
        loaded: policies.setting.load(policies.policy.get()),
        mediator: None,
        open_files: OpenFiles::current(),
        reload: Box::new(policies.clone()),
        log: log(),
        metrics: None,
        signals: signals(),
    }
}

fn log() -> Log {
    Log::new("simulation", LogTarget::Syslog)
}

fn signals() -> SignalSource {
    SignalSource::block(&[ProcessSignal::Terminate]).expect("signals")
}
