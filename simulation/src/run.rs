//! One run: a daemon from its start until all peers have disconnected.

use std::fs;

use broker::busconfig::ConfigError;
use broker::event_loop::{EventLoop, Loaded, LoopParts, Reload};
use broker::listen::{ListenEnvironment, listen, parse};
use broker::log::{Log, LogTarget};
use kernel::machine;
use kernel::rlimit::OpenFiles;
use kernel::signals::{ProcessSignal, SignalSource};
use wire::guid::Guid;

use crate::setting::{OWNER, SimulatedPolicy, SimulationSetting};
use crate::world::{SimulatedWorld, WorldPlan, WorldTally};

/// Runs the daemon in a world of this plan and checks that it leaves nothing behind.
///
/// # Panics
///
/// Panics if a peer receives a message that the oracle does not expect, or misses an expected one.
/// The message contains the variable that repeats the run.
pub fn run(plan: WorldPlan) -> WorldTally {
    // An earlier run that panicked may have left its machine.
    drop(machine::stop());
    let before = descriptors();
    let (world, tally) = SimulatedWorld::lazy(plan);
    machine::start(plan.seed, Box::new(world)).expect("descriptors");
    let setting = SimulationSetting::of(plan.seed);
    if let Some(max) = setting.open_files_max() {
        machine::with(|machine| machine.limit_open_files(max));
    }
    let mut event_loop = EventLoop::new(parts(setting)).expect("an event loop");
    event_loop.run().expect("the event loop runs until SIGTERM");
    drop(event_loop);
    let open = machine::with(machine::SimulatedMachine::open_count);
    assert_eq!(open, 0, "the daemon left descriptors open");
    drop(machine::stop());
    let tally = *tally.borrow();
    assert!(tally.is_done, "the daemon exited before the end of the run");
    assert_eq!(descriptors(), before, "the run left descriptors open");
    tally
}

/// Returns how many descriptors this process has. No other test runs in this process.
fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Provides the successive configurations of a setting.
struct SuccessivePolicies {
    setting: SimulationSetting,
    policy: SimulatedPolicy,
}

impl Reload for SuccessivePolicies {
    fn read(&mut self) -> Result<Loaded, ConfigError> {
        self.policy = self.policy.next(self.setting);
        Ok(self.setting.load(self.policy))
    }

    fn done(&mut self) {}
}

fn parts(setting: SimulationSetting) -> LoopParts {
    let address = parse("unix:abstract=simulation").expect("an address");
    LoopParts {
        listeners: listen(&address, &mut ListenEnvironment::default()).expect("a free place"),
        identity: bus::BusIdentity {
            id: Guid::from_bytes([7; 16]),
            machine_id: None,
            pid: 1,
            uid: OWNER,
            security_label: None,
        },
        loaded: setting.load(SimulatedPolicy::default()),
        mediator: None,
        open_files: OpenFiles::current(),
        reload: Box::new(SuccessivePolicies { setting, policy: SimulatedPolicy::default() }),
        log: Log::new("simulation", LogTarget::Syslog),
        metrics: None,
        signals: SignalSource::block(&[ProcessSignal::Terminate]).expect("signals"),
    }
}
