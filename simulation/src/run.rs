//! One run: a daemon, from its start until all have left it.

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

/// Runs the daemon in a world of this plan, and checks that nothing of anybody is left.
///
/// # Panics
///
/// If anybody gets what he should not, or does not get what he should; the message tells how to see
/// it again.
pub fn run(plan: WorldPlan) -> WorldTally {
    // One that was broken off may have left a machine.
    drop(machine::stop());
    let before = descriptors();
    let (world, tally) = SimulatedWorld::later(plan);
    machine::start(plan.seed, Box::new(world)).expect("descriptors");
    let setting = SimulationSetting::of(plan.seed);
    if let Some(max) = setting.open_files_max() {
        machine::with(|machine| machine.limit_open_files(max));
    }
    let mut event_loop = EventLoop::new(parts(setting)).expect("an event loop");
    event_loop.run().expect("it runs until it is told to end");
    drop(event_loop);
    let open = machine::with(machine::SimulatedMachine::open_count);
    assert_eq!(open, 0, "the daemon leaves descriptors open");
    drop(machine::stop());
    let tally = *tally.borrow();
    assert!(tally.is_done, "the daemon has ended before all was done");
    assert_eq!(descriptors(), before, "descriptors are left");
    tally
}

/// How many descriptors this process has. Tests that run beside each other have their own.
fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// The configurations of a setting, one after the other.
struct Again {
    setting: SimulationSetting,
    policy: SimulatedPolicy,
}

impl Reload for Again {
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
        reload: Box::new(Again { setting, policy: SimulatedPolicy::default() }),
        log: Log::new("simulation", LogTarget::Syslog),
        metrics: None,
        signals: SignalSource::block(&[ProcessSignal::Terminate]).expect("signals"),
    }
}
