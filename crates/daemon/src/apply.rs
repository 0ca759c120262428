//! Applies options to the settings.

use std::ffi::OsStr;
use std::path::PathBuf;

use broker::log::{LogChoice, LogTarget};
use broker::startup::{
    BackgroundChoice, ConfigSource, PidFileChoice, UnitActivation, UnitTemplate,
};
use bus::BodyValidation;
use daemon_command::options::{SwitchId, ValueId};

use crate::error::OptionError;
use crate::parse::{DaemonRequest, SettingsDraft};
use crate::size;

/// Applies an option without a value. If it returns a request, the rest of the command line is
/// ignored.
pub(crate) fn switch(
    draft: &mut SettingsDraft,
    option: SwitchId,
) -> Result<Option<DaemonRequest>, OptionError> {
    match option {
        SwitchId::Help => return Ok(Some(DaemonRequest::Help)),
        SwitchId::Version => return Ok(Some(DaemonRequest::Version)),
        SwitchId::Introspect => return Ok(Some(DaemonRequest::Introspect)),
        SwitchId::Session => draft.set_config("--session", ConfigSource::Session)?,
        SwitchId::System => draft.set_config("--system", ConfigSource::System)?,
        SwitchId::NoPidFile => draft.pid_file = PidFileChoice::Never,
        SwitchId::NoSyslog => draft.log = LogChoice::Always(LogTarget::Stderr),
        // An earlier --syslog-only stays in force.
        SwitchId::Syslog if draft.log == LogChoice::Always(LogTarget::Syslog) => {}
        SwitchId::Syslog => draft.log = LogChoice::Always(LogTarget::Both),
        SwitchId::SyslogOnly => draft.log = LogChoice::Always(LogTarget::Syslog),
        SwitchId::NoFork => draft.background = BackgroundChoice::Stay,
        SwitchId::Fork => draft.background = BackgroundChoice::Go,
        // An earlier --helper-unit stays in force.
        SwitchId::SystemdActivation if draft.activation != UnitActivation::Direct => {}
        SwitchId::SystemdActivation => draft.activation = UnitActivation::Systemd,
        SwitchId::WithoutBodyValidation => draft.body_validation = BodyValidation::Off,
    }
    Ok(None)
}

/// Applies an option with its value, which is not empty.
pub(crate) fn value(
    draft: &mut SettingsDraft,
    option: ValueId,
    value: &OsStr,
) -> Result<(), OptionError> {
    match option {
        ValueId::ConfigFile => {
            draft.set_config("--config-file", ConfigSource::File(PathBuf::from(value)))?;
        }
        ValueId::Address => {
            if let Some(first) = draft.address.take() {
                return Err(OptionError::SecondAddress { first });
            }
            draft.address = Some(value.to_string_lossy().into_owned());
        }
        ValueId::MetricsSocket => draft.metrics_socket = Some(PathBuf::from(value)),
        ValueId::FlightRecorder => {
            let bytes = value.to_str().and_then(size::bytes);
            let bytes = bytes.ok_or_else(|| OptionError::InvalidSize(value.into()))?;
            draft.flight_recorder = Some(bytes);
        }
        ValueId::HelperUnit => {
            let template = value.to_str().and_then(UnitTemplate::parse);
            let template = template.ok_or_else(|| OptionError::InvalidTemplate(value.into()))?;
            draft.activation = UnitActivation::SystemdAlone(template);
        }
        ValueId::PrintAddress => draft.print_address.set("--print-address", "address", value)?,
        ValueId::PrintPid => draft.print_pid.set("--print-pid", "pid", value)?,
    }
    Ok(())
}

/// Applies an option that has no value, or an empty one.
pub(crate) fn without_value(draft: &mut SettingsDraft, option: ValueId) {
    match option {
        ValueId::PrintAddress => draft.print_address.request(),
        ValueId::PrintPid => draft.print_pid.request(),
        ValueId::ConfigFile
        | ValueId::Address
        | ValueId::MetricsSocket
        | ValueId::FlightRecorder
        | ValueId::HelperUnit => {}
    }
}
