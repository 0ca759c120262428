//! Faults in the environment of the bus: peers and the bus are killed, descriptors, memory and disk
//! space run out, clocks jump, readers stop, thousands connect, and traffic continues for hours.
//! These tests run only with Diligence; some cheap ones also run dbus-daemon for comparison.
//!
//! The short form of each test runs with all tests; `DILIGENCE_FAULTS=long` selects the form whose
//! figures docs/reliability.md contains. Each test prints them. `DILIGENCE_SOAK` is the duration of
//! the soak test in seconds.
//!
//! | module | fault |
//! | --- | --- |
//! | [`killed_peers`] | processes are killed while they exchange messages |
//! | [`killed_bus`] | the bus is killed, and another takes its place |
//! | [`descriptors`] | no descriptor is left |
//! | [`memory`] | no memory is left |
//! | [`disk`] | no disk space is left: logs, pid files, recordings, the flight recorder |
//! | [`clock`] | the wall clock jumps |
//! | [`stopped`] | a reader is stopped |
//! | [`connections`] | thousands of connections |
//! | [`rules`] | very many match rules |
//! | [`slow_handshake`] | handshakes that send a byte from time to time |
//! | [`soak`] | none, for a long time |
//! | [`desktop`] | none: the start of a desktop, repeated |
//!
//! The parts: [`form`] is the short or the long form, [`gauge`] reads resources and statistics of
//! the bus, [`latency`] measures calls, [`numbered`] makes messages of which none may be missing,
//! [`worker`] is a process that can be killed or stopped, [`stop_flag`] ends threads, [`recording`]
//! reads recorded messages.

mod clock;
mod connections;
mod descriptors;
mod desktop;
mod disk;
mod form;
mod gauge;
mod killed_bus;
mod killed_peers;
mod latency;
mod memory;
mod numbered;
mod recording;
mod rules;
mod slow_handshake;
mod soak;
mod stop_flag;
mod stopped;
mod worker;

use std::env;
use std::process::ExitCode;

use conformance::{diligence, mounts, run_tests, test_case};

fn main() -> ExitCode {
    if let Ok(role) = env::var(worker::ROLE) {
        worker::run(&role);
        return ExitCode::SUCCESS;
    }
    run_tests([
        test_case!(clock::timers_and_recordings_are_right_when_the_clock_jumps)
            .requires(diligence())
            .requires(clock::x86_64()),
        test_case!(connections::thousands_of_connections_cost_little).requires(diligence()),
        test_case!(descriptors::connections_wait_when_descriptors_run_out).requires(diligence()),
        test_case!(desktop::repeated_starts_of_a_desktop_get_the_same_messages)
            .requires(diligence()),
        test_case!(disk::a_full_disk_does_not_stop_the_bus)
            .requires(diligence())
            .requires(mounts()),
        test_case!(disk::a_full_disk_leaves_no_pid_file).requires(diligence()).requires(mounts()),
        test_case!(disk::a_full_disk_ends_a_recording_with_a_report)
            .requires(diligence())
            .requires(mounts()),
        test_case!(disk::a_full_disk_leaves_no_flight_recording)
            .requires(diligence())
            .requires(mounts()),
        test_case!(killed_bus::clients_reconnect_after_the_bus_is_killed).requires(diligence()),
        test_case!(killed_bus::a_killed_bus_leaves_its_services_and_pid_file).requires(diligence()),
        test_case!(killed_bus::a_stale_pid_file_does_not_prevent_a_start).requires(diligence()),
        test_case!(killed_peers::killed_peers_are_reported_once_and_no_message_is_lost)
            .requires(diligence()),
        test_case!(memory::limits_bound_the_memory_of_queues).requires(diligence()),
        test_case!(memory::a_bus_without_memory_logs_and_ends).requires(diligence()),
        test_case!(rules::many_rules_cost_little_per_signal).requires(diligence()),
        test_case!(slow_handshake::slow_handshakes_do_not_delay_other_clients)
            .requires(diligence()),
        test_case!(soak::memory_and_latency_stay_constant_in_a_soak).requires(diligence()),
        test_case!(stopped::a_stopped_reader_does_not_delay_others).requires(diligence()),
    ])
}
