//! The configuration file of a private bus.

use wire::address::AddressList;

/// Returns the configuration of a session bus: connected peers may do everything, services are
/// activatable, and the limits are too high to matter.
pub(super) fn session(address: &AddressList) -> String {
    let listen: String = address
        .entries()
        .iter()
        .map(|entry| format!("  <listen>{}</listen>\n", escaped(entry)))
        .collect();
    let limits: String = LIMITS
        .iter()
        .map(|(name, value)| format!("  <limit name=\"{name}\">{value}</limit>\n"))
        .collect();
    format!(
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n\
         \x20\"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n\
         <busconfig>\n  <type>session</type>\n  <keep_umask/>\n{listen}\
         \x20 <standard_session_servicedirs/>\n  <policy context=\"default\">\n\
         \x20   <allow send_destination=\"*\" eavesdrop=\"true\"/>\n\
         \x20   <allow eavesdrop=\"true\"/>\n\
         \x20   <allow own=\"*\"/>\n  </policy>\n{limits}</busconfig>\n"
    )
}

fn escaped(text: &impl ToString) -> String {
    text.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Limits in bytes, milliseconds and counts, as in dbus-daemon's session.conf.
const LIMITS: [(&str, u32); 15] = [
    ("max_incoming_bytes", 1_000_000_000),
    ("max_incoming_unix_fds", 250_000_000),
    ("max_outgoing_bytes", 1_000_000_000),
    ("max_outgoing_unix_fds", 250_000_000),
    ("max_message_size", 1_000_000_000),
    ("service_start_timeout", 120_000),
    ("auth_timeout", 240_000),
    ("pending_fd_timeout", 150_000),
    ("max_completed_connections", 100_000),
    ("max_incomplete_connections", 10_000),
    ("max_connections_per_user", 100_000),
    ("max_pending_service_starts", 10_000),
    ("max_names_per_connection", 50_000),
    ("max_match_rules_per_connection", 50_000),
    ("max_replies_per_connection", 50_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_listen_on_every_address() {
        let address = "unix:path=/run/a%26b;tcp:host=localhost".parse().unwrap();
        let text = session(&address);
        assert!(text.contains("<listen>unix:path=/run/a%26b</listen>"), "{text}");
        assert!(text.contains("<listen>tcp:host=localhost</listen>"), "{text}");
        assert!(text.contains("<limit name=\"max_outgoing_bytes\">1000000000</limit>"), "{text}");
        assert_eq!(escaped(&"a<b>&c"), "a&lt;b&gt;&amp;c");
    }
}
