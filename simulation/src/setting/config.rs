//! The configuration of a bus, as files that the daemon reads.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use broker::activation::{self, UnitActivation};
use broker::busconfig::{self, Environment};
use broker::event_loop::Loaded;

use super::{
    ANY, CONNECTIONS_MAX, DEAFENED, Feature, MESSAGE_FDS_MAX, MESSAGE_LEN_MAX, MUTED, NAMES_MAX,
    QUEUE_MAX, REPLIES_MAX, REPLY_TIMEOUT_MS, RULES_MAX, START_TIMEOUT_MS, STARTS_MAX,
    SimulatedPolicy, SimulationSetting, UNCALLED, UNHEARD, UNOVERHEARD, UNOWNED, UNRECEIVED,
    UNSENT,
};

impl SimulationSetting {
    /// The configuration, with the services.
    ///
    /// # Panics
    ///
    /// If it cannot be written to files, or read from them.
    pub fn load(self, policy: SimulatedPolicy) -> Loaded {
        let folder = ConfigFolder::new();
        // What the oracle expects follows from what the monitor saw, so the monitor, the only connection of
        // root while others talk, must see every message. A signal can make a copy of an error for each
        // connection that the policy keeps it from, which exceeds `QUEUE_MAX`.
        let text = format!(
            "<busconfig><type>session</type><listen>unix:abstract=simulation</listen>\
             <auth>EXTERNAL</auth><policy context='default'><allow user='*'/>\
             <allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/>\
             <deny eavesdrop='true' receive_type='method_call' receive_interface='{UNOVERHEARD}'/>\
             <allow own='*'/>{}</policy>{}<servicedir>{}</servicedir>{}\
             <?diligence <limit name='max_outgoing_bytes' user='root'>{ANY}</limit>?></busconfig>",
            policy.rules(),
            self.policies_of_users(),
            folder.0.display(),
            self.limits(),
        );
        let file = folder.0.join("bus.conf");
        let write =
            |file: PathBuf, text| fs::write(file, text).expect("there is a place for files");
        write(file.clone(), text);
        for (name, _) in self.services() {
            let text = format!("[D-BUS Service]\nName={name}\nExec=/simulated {name}\n");
            write(folder.0.join(format!("{name}.service")), text);
        }
        let environment = Environment::of_this_system();
        let mut config = busconfig::load(&file, &environment).expect("the configuration is sound");
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
        limit("max_incoming_bytes", ANY);
        limit("max_outgoing_bytes", self.most(Feature::TightQueues, QUEUE_MAX));
        // Of everything the monitor has to get a copy.
        limit("max_outgoing_unix_fds", ANY / 4);
        for name in ["max_completed_connections", "max_incomplete_connections"] {
            limit(name, ANY);
        }
        limit("max_message_size", self.most(Feature::SmallMessages, MESSAGE_LEN_MAX));
        limit("max_message_unix_fds", self.most(Feature::SmallMessages, MESSAGE_FDS_MAX));
        if self.has(Feature::Deadlines) {
            limit("reply_timeout", REPLY_TIMEOUT_MS);
        }
        let few = [
            ("max_connections_per_user", CONNECTIONS_MAX),
            ("max_names_per_connection", NAMES_MAX),
            ("max_match_rules_per_connection", RULES_MAX),
            ("max_replies_per_connection", REPLIES_MAX),
            ("max_pending_service_starts", STARTS_MAX),
        ];
        for (name, max) in few {
            limit(name, self.most(Feature::FewPlaces, max as u64));
        }
        limits
    }

    fn policies_of_users(self) -> String {
        if !self.has(Feature::Users) {
            return String::new();
        }
        format!(
            "<policy user='{MUTED}'><deny send_type='method_call' send_interface='{UNCALLED}'/>\
             </policy><policy user='{DEAFENED}'>\
             <deny receive_type='signal' receive_interface='{UNHEARD}'/><deny own='{UNOWNED}'/>\
             </policy>"
        )
    }
}

impl SimulatedPolicy {
    fn rules(self) -> String {
        match self {
            Self::Open => String::new(),
            Self::Strict => format!(
                "<deny send_type='signal' send_interface='{UNSENT}'/>\
                 <deny receive_type='method_call' receive_interface='{UNRECEIVED}'/>\
                 <deny own='{UNOWNED}'/>"
            ),
        }
    }
}

/// A folder that is removed when it is not needed any longer.
struct ConfigFolder(PathBuf);

impl ConfigFolder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("simulation-{}", std::process::id()));
        fs::create_dir_all(&path).expect("there is a place for files");
        Self(path)
    }
}

impl Drop for ConfigFolder {
    fn drop(&mut self) {
        // What is left is small, and in a folder for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}
