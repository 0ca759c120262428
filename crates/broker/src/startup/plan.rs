//! The plan of a start: the settings of the command line merged with the configuration.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf, absolute};

use bus::BodyValidation;
use serde::{Deserialize, Serialize};
use services::saved_path;
use wire::address::AddressList;

use super::StartError;
use super::error::StartupStep;
use super::settings::{BackgroundChoice, ConfigSource, Interrupt, PidFileChoice, Settings};
use crate::activation::UnitActivation;
use crate::busconfig::{Config, Document, ForkMode, Syslog, Umask};
use crate::listen::{ListenEnvironment, Listener, listen, parse};
use crate::log::LogTarget;

/// The merged settings of one start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StartupPlan {
    /// The configuration to reload; its path is absolute if the process changes its directory.
    pub(super) config: ConfigSource,
    /// The address lists to listen at, one entry of each. Never empty, but not saved.
    #[serde(skip)]
    pub(super) addresses: Vec<AddressList>,
    /// The destination of log lines.
    pub(super) log: LogTarget,
    /// The absolute path of the pid file, if one is written.
    #[serde(with = "saved_path::option")]
    pub(super) pid_file: Option<PathBuf>,
    /// Whether to go to the background, and what to do with the umask then. Not saved.
    #[serde(skip)]
    pub(super) background: Option<Umask>,
    /// The user to switch to, by name or number. Not saved.
    #[serde(skip)]
    pub(super) user: Option<String>,
    /// The effect of SIGINT.
    pub(super) interrupt: Interrupt,
    /// Whether message bodies are validated.
    pub(super) body_validation: BodyValidation,
    /// How services are activated.
    pub(super) activation: UnitActivation,
    #[serde(with = "saved_path::option")]
    /// The absolute path of the metrics socket, if the command line overrides the configuration.
    pub(super) metrics_socket: Option<PathBuf>,
    /// The size of the flight recorder in bytes, if the command line overrides the configuration.
    pub(super) flight_recorder: Option<u64>,
    /// The directory of flight recorder files, if the configuration names none.
    #[serde(with = "saved_path")]
    flight_recorder_folder: PathBuf,
}

impl StartupPlan {
    pub(super) fn new(settings: &Settings, config: &Config) -> Result<Self, StartError> {
        let Document { fork, umask, syslog, pidfile, user, .. } = &config.document;
        let addresses = match &settings.address {
            Some(address) => vec![parse(address)?],
            None => config.addresses()?,
        };
        let background = goes_to_background(settings.background, *fork).then_some(*umask);
        let failed = StartError::at(StartupStep::LocateFiles);
        let metrics_socket = settings.metrics_socket.as_ref().map(absolute).transpose();
        Ok(Self {
            config: config_to_reload(&settings.config, background).map_err(&failed)?,
            addresses,
            log: LogTarget::choose(settings.log, log_target(*syslog)),
            pid_file: pid_file(settings.pid_file, pidfile.as_deref()).map_err(&failed)?,
            background,
            user: user.clone(),
            interrupt: settings.interrupt,
            body_validation: settings.body_validation,
            activation: settings.activation.clone(),
            metrics_socket: metrics_socket.map_err(&failed)?,
            flight_recorder: settings.flight_recorder,
            flight_recorder_folder: state_folder(|name| env::var_os(name)),
        })
    }

    /// Replaces values of the configuration by values from the command line.
    pub(super) fn overrule(&self, config: &mut Config) {
        let own = &mut config.document.own;
        if let Some(path) = &self.metrics_socket {
            own.metrics_socket = Some(path.clone());
        }
        own.flight_recorder = self.flight_recorder.or(own.flight_recorder);
        let folder = || self.flight_recorder_folder.clone();
        own.flight_recorder_folder.get_or_insert_with(folder);
        config.configuration.flight_recorder = own.recorder();
    }

    /// Listens at all addresses. The listeners are in the order in which their addresses are
    /// printed: the last address of the configuration comes first.
    pub(super) fn listen(
        &self,
        environment: &mut ListenEnvironment,
    ) -> Result<Vec<Listener>, StartError> {
        let mut groups = Vec::with_capacity(self.addresses.len());
        for list in &self.addresses {
            groups.push(listen(list, environment)?);
        }
        Ok(groups.into_iter().rev().flatten().collect())
    }
}

/// The directory for flight recorder files: the state directory that the service manager created
/// for this service, or the state directory of the user.
fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let is_folder = |path: &PathBuf| path.is_absolute();
    let folders = ["STATE_DIRECTORY", "RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"].into_iter();
    let mut folders = folders.filter_map(variable).map(PathBuf::from).filter(is_folder);
    folders.next().unwrap_or_else(env::temp_dir)
}

fn goes_to_background(choice: BackgroundChoice, configured: ForkMode) -> bool {
    match choice {
        BackgroundChoice::AsConfigured => configured == ForkMode::Background,
        BackgroundChoice::Go => true,
        BackgroundChoice::Stay => false,
    }
}

fn config_to_reload(config: &ConfigSource, background: Option<Umask>) -> io::Result<ConfigSource> {
    Ok(match (config, background) {
        (ConfigSource::File(path), Some(_)) => ConfigSource::File(absolute(path)?),
        _ => config.clone(),
    })
}

fn log_target(syslog: Syslog) -> LogTarget {
    match syslog {
        Syslog::On => LogTarget::Both,
        Syslog::Off => LogTarget::Stderr,
    }
}

fn pid_file(choice: PidFileChoice, configured: Option<&Path>) -> io::Result<Option<PathBuf>> {
    match choice {
        PidFileChoice::Never => Ok(None),
        PidFileChoice::AsConfigured => configured.map(absolute).transpose(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::busconfig::built_in_session;
    use crate::log::LogChoice;

    fn settings() -> Settings {
        Settings::new(ConfigSource::File("bus.conf".into()))
    }

    fn config(change: impl FnOnce(&mut Document)) -> Config {
        let mut config = built_in_session();
        change(&mut config.document);
        config
    }

    #[test]
    fn background_option_overrides_the_configuration() {
        let check = |background, fork, expected| {
            let settings = Settings { background, ..settings() };
            let config = config(|document| {
                document.fork = fork;
                document.umask = Umask::Reset;
            });
            assert_eq!(StartupPlan::new(&settings, &config).unwrap().background, expected);
        };
        check(BackgroundChoice::AsConfigured, ForkMode::Foreground, None);
        check(BackgroundChoice::AsConfigured, ForkMode::Background, Some(Umask::Reset));
        check(BackgroundChoice::Go, ForkMode::Foreground, Some(Umask::Reset));
        check(BackgroundChoice::Stay, ForkMode::Background, None);
    }

    #[test]
    fn paths_are_absolute_if_the_bus_goes_to_the_background() {
        let here = absolute("bus.conf").unwrap();
        let config = config(|document| document.pidfile = Some("pid".into()));
        let stays = StartupPlan::new(&settings(), &config).unwrap();
        assert_eq!(stays.config.path(), Path::new("bus.conf"), "as the caller wrote it");
        assert_eq!(stays.pid_file, Some(absolute("pid").unwrap()));
        let background = BackgroundChoice::Go;
        let leaves = StartupPlan::new(&Settings { background, ..settings() }, &config).unwrap();
        assert_eq!(leaves.config.path(), here);
        let pid_file = PidFileChoice::Never;
        let none = StartupPlan::new(&Settings { pid_file, ..settings() }, &config).unwrap();
        assert_eq!(none.pid_file, None);
    }

    #[test]
    fn an_address_of_the_command_line_replaces_all_configured_ones() {
        let addresses = |address: Option<&str>| {
            let address = address.map(str::to_owned);
            let plan = StartupPlan::new(&Settings { address, ..settings() }, &built_in_session())?;
            Ok(plan.addresses.iter().map(AddressList::to_string).collect::<Vec<_>>())
        };
        assert_eq!(addresses(None), Ok(vec!["unix:tmpdir=/tmp".to_owned()]));
        assert_eq!(addresses(Some("unix:path=/x")), Ok(vec!["unix:path=/x".to_owned()]));
        let wrong: Result<_, StartError> = addresses(Some("unix"));
        assert!(matches!(wrong, Err(StartError::Listen(_))), "{wrong:?}");
    }

    #[test]
    fn log_target_combines_command_line_and_configuration() {
        let check = |log, syslog, expected| {
            let settings = Settings { log, ..settings() };
            let config = config(|document| document.syslog = syslog);
            assert_eq!(StartupPlan::new(&settings, &config).unwrap().log, expected);
        };
        check(LogChoice::AsConfigured, Syslog::Off, LogTarget::Stderr);
        check(LogChoice::AsConfigured, Syslog::On, LogTarget::Both);
        check(LogChoice::Always(LogTarget::Stderr), Syslog::On, LogTarget::Stderr);
        check(LogChoice::Always(LogTarget::Syslog), Syslog::Off, LogTarget::Syslog);
    }
}
