//! Requests for the state of a bus.

use std::collections::BTreeMap;

use client::wire::body::{DecodeArgs, Value};
use client::wire::names::{InterfaceName, MemberName, ObjectPath, WellKnownName};
use client::{CallError, Connection, MessageBody};

use super::dict::StatusDict;
use super::error::StatusError;
use super::report::{BusNumbers, BusReport};

/// Requests the state of a bus. A bus of Diligence reports everything, with at most `top` entries
/// in each list. Other buses report what they support.
pub(super) fn ask(bus: &Connection, choice: String, top: u32) -> Result<BusReport, StatusError> {
    let client = BusClient { bus };
    let failed = |error| StatusError::Ask { choice: choice.clone(), error };
    let (id,) = client.call::<(String,)>(DRIVER, "GetId", &()).map_err(failed)?;
    let known = client.dict(DRIVER, "GetConnectionCredentials", &(BUS.as_str(),));
    let known = known.unwrap_or_default();
    let numbers = match client.own(top) {
        Err(error) if is_denied(&error) => return Err(StatusError::Denied { choice }),
        Err(error) if error.remote_name().is_some() => client.debug_stats(),
        own => own.map_err(failed)?,
    };
    let (pid, uid) = (known.number("ProcessID"), known.number("UnixUserID"));
    Ok(BusReport { choice, id, pid, uid, numbers })
}

struct BusClient<'b> {
    bus: &'b Connection,
}

impl BusClient<'_> {
    fn own(&self, top: u32) -> Result<BusNumbers, CallError> {
        let totals = self.dict(STATISTICS, "GetTotals", &())?;
        let (connections,) = self.call(STATISTICS, "GetConnections", &(top,))?;
        let (members, counted_for) = self.call(STATISTICS, "GetMembers", &(top,))?;
        let (history,) = self.call(STATISTICS, "GetHistory", &())?;
        let [connections, members, history] = [connections, members, history].map(dicts);
        Ok(BusNumbers::Own { totals, connections, members, counted_for, history })
    }

    /// Requests the statistics that other buses support. Missing parts are left out.
    fn debug_stats(&self) -> BusNumbers {
        let Ok(totals) = self.dict(DEBUG_STATS, "GetStats", &()) else {
            return BusNumbers::Nothing {};
        };
        let names = self.call::<(Vec<String>,)>(DRIVER, "ListNames", &());
        let names = names.map_or_else(|_| Vec::new(), |(names,)| names);
        let unique = names.iter().filter(|name| name.starts_with(':'));
        let stats = unique.take(CONNECTIONS_MAX).map_while(|name| {
            let mut dict = self.dict(DEBUG_STATS, "GetConnectionStats", &(name,)).ok()?;
            let pid = self.call::<(u32,)>(DRIVER, "GetConnectionUnixProcessID", &(name,));
            dict.0.extend(pid.ok().map(|(pid,)| ("ProcessID".into(), Value::Uint32(pid))));
            Some(dict)
        });
        let mut connections: Vec<StatusDict> = stats.collect();
        connections.sort_by_key(|dict| std::cmp::Reverse(dict.count("PeakOutgoingBytes")));
        BusNumbers::DebugStats { totals, connections }
    }

    fn dict(
        &self,
        interface: &'static str,
        member: &'static str,
        arguments: &impl MessageBody,
    ) -> Result<StatusDict, CallError> {
        self.call::<(BTreeMap<String, Value>,)>(interface, member, arguments)
            .map(|(entries,)| StatusDict(entries))
    }

    fn call<T: for<'r> DecodeArgs<'r>>(
        &self,
        interface: &'static str,
        member: &'static str,
        arguments: &impl MessageBody,
    ) -> Result<T, CallError> {
        let (interface, member) = (InterfaceName::literal(interface), MemberName::literal(member));
        let reply = self.bus.call(BUS, BUS_PATH, interface, member, arguments)?;
        reply.read().map_err(CallError::from)
    }
}

fn dicts(maps: Vec<BTreeMap<String, Value>>) -> Vec<StatusDict> {
    maps.into_iter().map(StatusDict).collect()
}

fn is_denied(error: &CallError) -> bool {
    error.remote_name() == Some("org.freedesktop.DBus.Error.AccessDenied")
}

const BUS: WellKnownName<'static> = WellKnownName::literal("org.freedesktop.DBus");
const BUS_PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/DBus");
const DRIVER: &str = "org.freedesktop.DBus";
const DEBUG_STATS: &str = "org.freedesktop.DBus.Debug.Stats";
const STATISTICS: &str = "org.diligence.Statistics1";

/// The maximum number of connections of other buses that are queried one by one.
const CONNECTIONS_MAX: usize = 500;
