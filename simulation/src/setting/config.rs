//! The configuration of a bus, as files that the daemon reads.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use broker::activation::{self, UnitActivation};
use broker::busconfig::{self, Environment};
use broker::event_loop::Loaded;

use super::{
    BUS_SOCKET, CALL_DENIED_TO_MUTED, CONNECTIONS_MAX, CONNECTIONS_OF_CONTAINER_MAX,
    CONTAINERS_OF_USER_MAX, DEAFENED, EAVESDROP_DENIED, Feature, MESSAGE_FDS_MAX, MESSAGE_LEN_MAX,
    MUTED, NAMES_MAX, OWN_DENIED, QUEUE_MAX, RECEIVE_DENIED, REPLIES_MAX, REPLY_TIMEOUT_MS,
    RULES_MAX, SEND_DENIED, SIGNAL_DENIED_TO_DEAFENED, START_TIMEOUT_MS, STARTS_MAX,
    SimulatedPolicy, SimulationSetting, UNREACHABLE,
};

impl SimulationSetting {
    /// Writes and loads the configuration and the service files.
    ///
    /// # Panics
    ///
    /// Panics if the files cannot be written or read.
    pub fn load(self, policy: SimulatedPolicy) -> Loaded {
        let folder = ConfigFolder::new();
        // The oracle computes its expectations from what the monitor receives. So the monitor, the
        // only connection of root while other peers send, must receive every message. A signal can
        // cause an error for each connection from which the policy withholds it, which exceeds
        // `QUEUE_MAX`.
        let text = format!(
            "<busconfig><type>session</type><listen>unix:abstract={BUS_SOCKET}</listen>\
             <auth>EXTERNAL</auth><policy context='default'><allow user='*'/>\
             <allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/>\
             <deny eavesdrop='true' receive_type='method_call' receive_interface='{EAVESDROP_DENIED}'/>\
             <allow own='*'/>{}</policy>{}<servicedir>{}</servicedir>{}\
             <?diligence <limit name='max_outgoing_bytes' user='root'>{UNREACHABLE}</limit>?></busconfig>",
            policy.denials(),
            self.user_policies(),
            folder.0.display(),
            self.limits(),
        );
        let file = folder.0.join("bus.conf");
        let write = |file: PathBuf, text| {
            fs::write(file, text).expect("the temporary directory is writable")
        };
        write(file.clone(), text);
        for (name, _) in self.services() {
            let text = format!("[D-BUS Service]\nName={name}\nExec=/simulated {name}\n");
            write(folder.0.join(format!("{name}.service")), text);
        }
        let environment = Environment::of_this_system();
        let mut config = busconfig::load(&file, &environment).expect("the configuration is valid");
        let (catalog, _) = activation::read(&config.document.service_dirs, None);
        config.configuration.services = catalog.services(&UnitActivation::Direct);
        Loaded { config, catalog }
    }

    fn limits(self) -> String {
        let mut limits = String::new();
        let mut limit = |name: &str, value: u64| {
            let _ = writeln!(limits, "<limit name='{name}'>{value}</limit>");
        };
        limit("service_start_timeout", START_TIMEOUT_MS);
        limit("max_incoming_bytes", UNREACHABLE);
        limit("max_outgoing_bytes", self.limit(Feature::TightQueues, QUEUE_MAX));
        // Not limited: the monitor gets a copy of everything.
        limit("max_outgoing_unix_fds", UNREACHABLE / 4);
        for name in ["max_completed_connections", "max_incomplete_connections", "max_containers"] {
            limit(name, UNREACHABLE);
        }
        limit("max_message_size", self.limit(Feature::SmallMessages, MESSAGE_LEN_MAX));
        limit("max_message_unix_fds", self.limit(Feature::SmallMessages, MESSAGE_FDS_MAX));
        if self.has(Feature::Deadlines) {
            limit("reply_timeout", REPLY_TIMEOUT_MS);
        }
        let low = [
            ("max_connections_per_user", CONNECTIONS_MAX),
            ("max_names_per_connection", NAMES_MAX),
            ("max_match_rules_per_connection", RULES_MAX),
            ("max_replies_per_connection", REPLIES_MAX),
            ("max_pending_service_starts", STARTS_MAX),
            ("max_containers_per_user", CONTAINERS_OF_USER_MAX),
            ("max_connections_per_container", CONNECTIONS_OF_CONTAINER_MAX as usize),
        ];
        for (name, max) in low {
            limit(name, self.limit(Feature::LowLimits, max as u64));
        }
        limits
    }

    fn user_policies(self) -> String {
        if !self.has(Feature::Users) {
            return String::new();
        }
        format!(
            "<policy user='{MUTED}'><deny send_type='method_call' send_interface='{CALL_DENIED_TO_MUTED}'/>\
             </policy><policy user='{DEAFENED}'>\
             <deny receive_type='signal' receive_interface='{SIGNAL_DENIED_TO_DEAFENED}'/><deny own='{OWN_DENIED}'/>\
             </policy>"
        )
    }
}

impl SimulatedPolicy {
    fn denials(self) -> String {
        match self {
            Self::Open => String::new(),
            Self::Strict => format!(
                "<deny send_type='signal' send_interface='{SEND_DENIED}'/>\
                 <deny receive_type='method_call' receive_interface='{RECEIVE_DENIED}'/>\
                 <deny own='{OWN_DENIED}'/>"
            ),
        }
    }
}

/// A temporary folder that is removed on drop.
struct ConfigFolder(PathBuf);

impl ConfigFolder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("simulation-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }
}

impl Drop for ConfigFolder {
    fn drop(&mut self) {
        // A failure leaves small files in the temporary directory, which is harmless.
        let _ = fs::remove_dir_all(&self.0);
    }
}
