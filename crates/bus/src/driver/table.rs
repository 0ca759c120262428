//! The table of interfaces, methods, signals and properties of the bus.

use wire::signature::Signature;

use super::call::Handler;
use super::{
    connections, containers, daemon, introspect, lanes, monitoring, name_methods, properties,
    statistics, stats, tracing,
};

/// The object paths at which an interface or method is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PathRule {
    /// At any path, for compatibility with clients older than the path of the bus.
    Any,
    /// Only at `/org/freedesktop/DBus`, the path of the bus.
    Canonical,
}

/// The callers that may use a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Privilege {
    /// All connections may call the method.
    Anyone,
    /// Connections that are not in a container may call the method.
    NotContained,
    /// Only root and the user of the bus may call the method, and not from a container.
    Privileged,
}

/// An argument of a method or signal, or the value of a property.
#[derive(Clone, Copy, Debug)]
pub(super) struct DriverArgument {
    pub(super) name: &'static str,
    pub(super) signature: &'static str,
}

pub(super) struct DriverMethod {
    pub(super) name: &'static str,
    pub(super) input: &'static [DriverArgument],
    pub(super) output: &'static [DriverArgument],
    pub(super) path: PathRule,
    pub(super) privilege: Privilege,
    pub(super) handler: Handler,
}

impl DriverMethod {
    /// True if a call with arguments of this signature is valid.
    pub(super) fn takes(&self, signature: Signature<'_>) -> bool {
        let mut rest = signature.as_str();
        let all = self.input.iter().all(|arg| match rest.strip_prefix(arg.signature) {
            Some(behind) => {
                rest = behind;
                true
            }
            None => false,
        });
        all && rest.is_empty()
    }

    /// The signature of the arguments, concatenated.
    pub(super) fn signature(&self) -> alloc::string::String {
        self.input.iter().map(|arg| arg.signature).collect()
    }
}

pub(super) struct DriverSignal {
    pub(super) name: &'static str,
    pub(super) args: &'static [DriverArgument],
}

pub(super) struct DriverProperty {
    pub(super) name: &'static str,
    pub(super) signature: &'static str,
}

pub(super) struct DriverInterface {
    pub(super) name: &'static str,
    pub(super) path: PathRule,
    pub(super) methods: &'static [DriverMethod],
    pub(super) signals: &'static [DriverSignal],
    pub(super) properties: &'static [DriverProperty],
}

/// Builds a list of arguments: `args!(name "s", flags "u")`
macro_rules! args {
    ($($name:ident $signature:literal),*) => {
        &[$(DriverArgument { name: stringify!($name), signature: $signature }),*]
    };
}

const fn method(
    name: &'static str,
    input: &'static [DriverArgument],
    output: &'static [DriverArgument],
    handler: Handler,
) -> DriverMethod {
    let (path, privilege) = (PathRule::Any, Privilege::Anyone);
    DriverMethod { name, input, output, path, privilege, handler }
}

impl DriverMethod {
    const fn canonical(self) -> Self {
        Self { path: PathRule::Canonical, ..self }
    }

    const fn not_contained(self) -> Self {
        Self { privilege: Privilege::NotContained, ..self }
    }

    const fn privileged(self) -> Self {
        Self { privilege: Privilege::Privileged, ..self }
    }
}

/// All interfaces. A call without an interface finds the first method of its name.
pub(super) static INTERFACES: &[DriverInterface] = &[
    DriverInterface {
        name: "org.freedesktop.DBus",
        path: PathRule::Any,
        methods: &[
            method("Hello", args!(), args!(unique_name "s"), connections::hello),
            method(
                "RequestName",
                args!(name "s", flags "u"),
                args!(result "u"),
                name_methods::request,
            ),
            method("ReleaseName", args!(name "s"), args!(result "u"), name_methods::release),
            method(
                "StartServiceByName",
                args!(name "s", flags "u"),
                args!(result "u"),
                name_methods::start_service,
            ),
            method(
                "UpdateActivationEnvironment",
                args!(environment "a{ss}"),
                args!(),
                connections::update_activation_environment,
            )
            .canonical()
            .privileged(),
            method("NameHasOwner", args!(name "s"), args!(has_owner "b"), name_methods::has_owner),
            method("ListNames", args!(), args!(names "as"), name_methods::list),
            method(
                "ListActivatableNames",
                args!(),
                args!(names "as"),
                name_methods::list_activatable,
            ),
            method("AddMatch", args!(rule "s"), args!(), monitoring::add_match),
            method("RemoveMatch", args!(rule "s"), args!(), monitoring::remove_match),
            method("GetNameOwner", args!(name "s"), args!(unique_name "s"), name_methods::owner),
            method(
                "ListQueuedOwners",
                args!(name "s"),
                args!(unique_names "as"),
                name_methods::queued_owners,
            ),
            method(
                "GetConnectionUnixUser",
                args!(name "s"),
                args!(uid "u"),
                connections::unix_user,
            ),
            method(
                "GetConnectionUnixProcessID",
                args!(name "s"),
                args!(pid "u"),
                connections::process_id,
            ),
            method(
                "GetAdtAuditSessionData",
                args!(name "s"),
                args!(data "ay"),
                connections::audit_session_data,
            ),
            method(
                "GetConnectionSELinuxSecurityContext",
                args!(name "s"),
                args!(context "ay"),
                connections::selinux_context,
            ),
            method("ReloadConfig", args!(), args!(), connections::reload_config),
            method("GetId", args!(), args!(id "s"), connections::id),
            method(
                "GetConnectionCredentials",
                args!(name "s"),
                args!(credentials "a{sv}"),
                connections::credentials,
            ),
        ],
        signals: &[
            DriverSignal {
                name: "NameOwnerChanged",
                args: args!(name "s", old_owner "s", new_owner "s"),
            },
            DriverSignal { name: "NameLost", args: args!(name "s") },
            DriverSignal { name: "NameAcquired", args: args!(name "s") },
            DriverSignal { name: "ActivatableServicesChanged", args: args!() },
        ],
        properties: &[
            DriverProperty { name: "Features", signature: "as" },
            DriverProperty { name: "Interfaces", signature: "as" },
        ],
    },
    DriverInterface {
        name: "org.freedesktop.DBus.Properties",
        path: PathRule::Canonical,
        methods: &[
            method(
                "Get",
                args!(interface_name "s", property_name "s"),
                args!(value "v"),
                properties::get,
            ),
            method("GetAll", args!(interface_name "s"), args!(props "a{sv}"), properties::get_all),
            method(
                "Set",
                args!(interface_name "s", property_name "s", value "v"),
                args!(),
                properties::set,
            ),
        ],
        signals: &[DriverSignal {
            name: "PropertiesChanged",
            args: args!(interface_name "s", changed_properties "a{sv}", invalidated_properties "as"),
        }],
        properties: &[],
    },
    DriverInterface {
        name: "org.freedesktop.DBus.Introspectable",
        path: PathRule::Any,
        methods: &[method("Introspect", args!(), args!(xml "s"), introspect::introspect)],
        signals: &[],
        properties: &[],
    },
    DriverInterface {
        name: "org.freedesktop.DBus.Monitoring",
        path: PathRule::Canonical,
        methods: &[method(
            "BecomeMonitor",
            args!(rules "as", flags "u"),
            args!(),
            monitoring::become_monitor,
        )
        .privileged()],
        signals: &[],
        properties: &[],
    },
    DriverInterface {
        name: "org.freedesktop.DBus.Debug.Stats",
        path: PathRule::Canonical,
        methods: &[
            method("GetStats", args!(), args!(statistics "a{sv}"), stats::bus).not_contained(),
            method(
                "GetConnectionStats",
                args!(name "s"),
                args!(statistics "a{sv}"),
                stats::connection,
            )
            .not_contained(),
            method("GetAllMatchRules", args!(), args!(rules "a{sas}"), stats::match_rules)
                .not_contained(),
        ],
        signals: &[],
        properties: &[],
    },
    DriverInterface {
        name: "org.freedesktop.DBus.Containers1",
        path: PathRule::Canonical,
        methods: &[
            method(
                "AddServer",
                args!(container_type "s", name "s", metadata "a{sv}", named_arguments "a{sv}"),
                args!(instance "o", socket_path "ay", address "s"),
                containers::add_server,
            )
            .not_contained(),
            method("StopInstance", args!(instance "o"), args!(), containers::stop_instance)
                .not_contained(),
            method("StopListening", args!(instance "o"), args!(), containers::stop_listening)
                .not_contained(),
            method(
                "GetConnectionInstance",
                args!(name "s"),
                args!(instance "o", creator "a{sv}", container_type "s", container_name "s", metadata "a{sv}"),
                containers::connection_instance,
            ),
            method(
                "GetInstanceInfo",
                args!(instance "o"),
                args!(creator "a{sv}", container_type "s", container_name "s", metadata "a{sv}"),
                containers::instance_info,
            ),
            method("RequestHeader", args!(), args!(), containers::request_header),
        ],
        signals: &[DriverSignal { name: "InstanceRemoved", args: args!(instance "o") }],
        properties: &[DriverProperty { name: "SupportedArguments", signature: "as" }],
    },
    DriverInterface {
        name: "org.diligence.Containers1",
        path: PathRule::Canonical,
        methods: &[
            method("SetRules", args!(instance "o", rules "as"), args!(), containers::set_rules)
                .not_contained(),
            method("GetRules", args!(instance "o"), args!(rules "as"), containers::rules)
                .not_contained(),
            method("ListInstances", args!(), args!(instances "a(ossu)"), containers::list)
                .not_contained(),
        ],
        signals: &[],
        properties: &[],
    },
    DriverInterface {
        name: "org.diligence.Daemon1",
        path: PathRule::Canonical,
        methods: &[method(
            "Reexecute",
            args!(),
            args!(old_version "s", new_version "s", paused_us "t"),
            daemon::reexecute,
        )
        .privileged()],
        signals: &[],
        properties: &[],
    },
    DriverInterface {
        name: "org.diligence.Lanes1",
        path: PathRule::Canonical,
        methods: &[
            method(
                "Request",
                args!(partner "s"),
                args!(is_open "b", unique_name "s", name_changes "t"),
                lanes::request,
            ),
            method("Release", args!(partner "s"), args!(), lanes::release),
            method("Resume", args!(partner "s", serials "au"), args!(), lanes::resume),
        ],
        signals: &[DriverSignal {
            name: "Opened",
            args: args!(
                partner "s",
                socket "h",
                own_progress "h",
                partner_progress "h",
                own_traffic "h"
            ),
        }],
        properties: &[],
    },
    DriverInterface {
        name: "org.diligence.Statistics1",
        path: PathRule::Canonical,
        methods: &[
            method("GetTotals", args!(), args!(totals "a{sv}"), statistics::totals).privileged(),
            method(
                "GetConnections",
                args!(most "u"),
                args!(connections "aa{sv}"),
                statistics::connections,
            )
            .privileged(),
            method(
                "GetMembers",
                args!(most "u"),
                args!(members "aa{sv}", counted_for "t"),
                statistics::members,
            )
            .privileged(),
            method("GetHistory", args!(), args!(incidents "aa{sv}"), statistics::history)
                .privileged(),
        ],
        signals: &[],
        properties: &[],
    },
    DriverInterface {
        name: "org.diligence.Trace1",
        path: PathRule::Canonical,
        methods: &[
            method("Start", args!(options "a{sv}"), args!(ring "h", about "a{sv}"), tracing::start)
                .privileged(),
            method("Stop", args!(), args!(), tracing::stop).privileged(),
            method("Dump", args!(), args!(ring "h", about "a{sv}"), tracing::dump).privileged(),
        ],
        signals: &[],
        properties: &[],
    },
    DriverInterface {
        name: "org.freedesktop.DBus.Peer",
        path: PathRule::Any,
        methods: &[
            method("GetMachineId", args!(), args!(machine_id "s"), connections::machine_id),
            method("Ping", args!(), args!(), connections::ping),
        ],
        signals: &[],
        properties: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use wire::names::{InterfaceName, MemberName};

    #[test]
    fn the_table_holds_names_and_types() {
        for interface in INTERFACES {
            assert!(InterfaceName::new(interface.name).is_ok(), "{}", interface.name);
            for method in interface.methods {
                assert!(MemberName::new(method.name).is_ok(), "{}", method.name);
                let signature = method.signature();
                let signature = Signature::new(&signature).expect("valid types");
                assert!(method.takes(signature), "{}", method.name);
            }
            let args = interface.methods.iter().flat_map(|m| m.input.iter().chain(m.output));
            let args = args.chain(interface.signals.iter().flat_map(|signal| signal.args));
            for arg in args {
                let kind = Signature::new(arg.signature).ok().and_then(Signature::single);
                assert!(kind.is_some(), "{}: {}", arg.name, arg.signature);
            }
        }
    }

    #[test]
    fn interfaces_and_their_methods_are_unique() {
        let unique = |mut names: Vec<&str>| {
            let len = names.len();
            names.sort_unstable();
            names.dedup();
            names.len() == len
        };
        assert!(unique(INTERFACES.iter().map(|interface| interface.name).collect()));
        for interface in INTERFACES {
            let methods = interface.methods.iter().map(|method| method.name);
            assert!(unique(methods.collect()), "{}", interface.name);
        }
    }

    #[test]
    fn a_method_takes_its_types_and_no_others() {
        let method = method("M", args!(a "s", b "a{ss}"), args!(), connections::ping);
        for (types, expected) in
            [("sa{ss}", true), ("s", false), ("sa{ss}s", false), ("a{ss}s", false), ("", false)]
        {
            let signature = Signature::new(types).expect("valid types");
            assert_eq!(method.takes(signature), expected, "{types}");
        }
    }
}
