//! The authentication scripts from dbus-daemon's own tests.

use std::fs;
use std::path::Path;

use diligence_wire::hex;
use diligence_wire::sasl::client::{self, FdNegotiation, SaslClient};
use diligence_wire::sasl::server::{self, AuthenticatedIdentity, PeerIdentity, SaslServer};

use super::{NOW, TestSystem, anonymous, cookie, external, sequential, unix_server};

#[test]
fn dialogues_of_dbus_daemon_have_the_same_outcome() {
    let mut count = 0;
    for entry in fs::read_dir(FOLDER).expect("the package dbus-tests is installed") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_some_and(|extension| extension == "auth-script") {
            play(&path);
            count += 1;
        }
    }
    assert!(count >= 19, "only {count} scripts in {FOLDER}");
}

fn play(path: &Path) {
    let text = fs::read_to_string(path).expect("a readable script");
    let mut stage = HandshakeScript::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            let place = format!("{}:{}", path.display(), index + 1);
            stage.follow(line, &place);
        }
    }
}

/// The state of a dialogue, as the scripts name it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
enum ScriptState {
    #[default]
    WaitingForInput,
    Authenticated,
    AuthenticatedWithUnusedBytes,
    NeedDisconnect,
}

enum ScriptSide {
    Client(SaslClient),
    Server(SaslServer),
}

#[derive(Default)]
struct HandshakeScript {
    side: Option<ScriptSide>,
    /// Output of our side that the script has not checked yet.
    output: Vec<u8>,
    state: ScriptState,
    identity: Option<AuthenticatedIdentity>,
    unused: Vec<u8>,
}

impl HandshakeScript {
    fn follow(&mut self, line: &str, place: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "UNIX_ONLY" => {}
            "CLIENT" => self.start_client(),
            "SERVER" => self.start_server(Some(1000)),
            "NO_CREDENTIALS" => self.start_server(None),
            "ROOT_CREDENTIALS" => self.start_server(Some(0)),
            "SILLY_CREDENTIALS" => self.start_server(Some(4711)),
            "SEND" => self.send(&text_of(rest)),
            "EXPECT_COMMAND" => assert_eq!(self.next_command(), rest, "{place}"),
            "EXPECT_STATE" => assert_eq!(self.state, state_of(rest), "{place}"),
            "EXPECT_UNUSED" => {
                assert_eq!(self.unused, text_of(rest).into_bytes(), "{place}");
                self.state = ScriptState::Authenticated;
            }
            "EXPECT_HAVE_NO_CREDENTIALS" => assert!(!self.has_credentials(), "{place}"),
            "EXPECT_HAVE_SOME_CREDENTIALS" => assert!(self.has_credentials(), "{place}"),
            _ => panic!("{place}: unknown command {word}"),
        }
    }

    fn start_client(&mut self) {
        let config = sequential([external(), cookie(), anonymous()], FdNegotiation::NotRequested);
        let client = SaslClient::start(config, &mut self.output);
        assert_eq!(self.output.remove(0), 0, "the first byte is NUL");
        self.side = Some(ScriptSide::Client(client));
    }

    fn start_server(&mut self, uid: Option<u32>) {
        let peer = PeerIdentity { uid };
        let mut server = SaslServer::new(server::ServerConfig { peer, ..unix_server() });
        let progress = server.receive(b"\0", NOW, &mut TestSystem, &mut self.output);
        assert_eq!(progress, Ok(server::ServerProgress::NeedMore));
        self.side = Some(ScriptSide::Server(server));
    }

    fn send(&mut self, text: &str) {
        let bytes = [text.as_bytes(), b"\r\n"].concat();
        let (state, consumed) = match self.side.as_mut().expect("the script names a side") {
            ScriptSide::Server(server) => {
                match server.receive(&bytes, NOW, &mut TestSystem, &mut self.output) {
                    Ok(server::ServerProgress::NeedMore) => {
                        (ScriptState::WaitingForInput, bytes.len())
                    }
                    Ok(server::ServerProgress::Done { consumed, identity, .. }) => {
                        self.identity = Some(identity);
                        (ScriptState::Authenticated, consumed)
                    }
                    Err(_) => (ScriptState::NeedDisconnect, bytes.len()),
                }
            }
            ScriptSide::Client(client) => {
                match client.receive(&bytes, &mut TestSystem, &mut self.output) {
                    Ok(client::ClientProgress::NeedMore) => {
                        (ScriptState::WaitingForInput, bytes.len())
                    }
                    Ok(client::ClientProgress::Done { consumed, .. }) => {
                        (ScriptState::Authenticated, consumed)
                    }
                    Err(_) => (ScriptState::NeedDisconnect, bytes.len()),
                }
            }
        };
        self.unused = bytes[consumed..].to_vec();
        self.state =
            if self.unused.is_empty() { state } else { ScriptState::AuthenticatedWithUnusedBytes };
    }

    /// The first word of the next line of our side.
    fn next_command(&mut self) -> String {
        let end = self.output.windows(2).position(|pair| pair == b"\r\n");
        let line: Vec<u8> = self.output.drain(..end.map_or(0, |end| end + 2)).collect();
        let line = String::from_utf8(line).expect("lines are ASCII");
        line.split_ascii_whitespace().next().unwrap_or_default().to_owned()
    }

    fn has_credentials(&self) -> bool {
        matches!(self.identity, Some(AuthenticatedIdentity::Uid(_)))
    }
}

fn state_of(name: &str) -> ScriptState {
    match name {
        "WAITING_FOR_INPUT" => ScriptState::WaitingForInput,
        "AUTHENTICATED" => ScriptState::Authenticated,
        "AUTHENTICATED_WITH_UNUSED_BYTES" => ScriptState::AuthenticatedWithUnusedBytes,
        "NEED_DISCONNECT" => ScriptState::NeedDisconnect,
        _ => panic!("unknown state {name}"),
    }
}

/// A text to send, with its placeholders replaced by a known or an unknown user.
fn text_of(quoted: &str) -> String {
    let mut text = quoted.trim_matches('\'').replace("\\r\\n", "\r\n");
    for (word, user) in [
        ("WRONG_USERID_HEX", "1001"),
        ("USERID_HEX", "1000"),
        ("WRONG_USERNAME_HEX", "nobody"),
        ("USERNAME_HEX", "user"),
    ] {
        text = text.replace(word, &hex::encode(user.as_bytes()));
    }
    text
}

/// The folder in which Debian's package dbus-tests installs the scripts.
const FOLDER: &str = "/usr/lib/dbus-1.0/installed-tests/dbus/data/auth";
