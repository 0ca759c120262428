//! Authentication: transcripts of each side in all chunkings, and both sides together.

mod client;
mod scripts;
mod server;

use diligence_wire::guid::Guid;
use diligence_wire::sasl::client::{
    AuthenticationAttempt, AuthenticationPlan, ClientProgress, Cookies, DirectAttempt,
    FdNegotiation, SaslClient,
};
use diligence_wire::sasl::cookie::{Cookie, CookieContext};
use diligence_wire::sasl::server::{
    self as serving, AuthenticatedIdentity, Authority, CookieRequest, FdSupport, PeerIdentity,
    SaslServer,
};
use diligence_wire::sasl::{ClientConfig, FdPassing, Mechanisms, ServerConfig};

const GUID_TEXT: &str = "07070707070707070707070707070707";
const NOW: u64 = 1_000_000;

/// Callbacks for one user, `user` or 1000, with one cookie.
struct TestSystem;

impl Authority for TestSystem {
    /// The client is in a user namespace in which root is the user 1000, and another user is 1001.
    fn uid_outside(&mut self, inside: u32) -> Option<u32> {
        match inside {
            0 => Some(1000),
            1 => Some(1001),
            _ => None,
        }
    }

    fn uid_of(&mut self, login_name: &str) -> Option<u32> {
        (login_name == "user").then_some(1000)
    }

    fn cookie(&mut self, request: CookieRequest<'_>) -> Option<Cookie> {
        assert_eq!(request.now_unix, NOW);
        let secret = "c0ffee".into();
        (request.uid == 1000).then_some(Cookie { id: 5, created_unix: NOW, secret })
    }

    fn random(&mut self) -> [u8; 16] {
        [0xaa; 16]
    }
}

impl Cookies for TestSystem {
    fn secret(&mut self, context: &CookieContext, id: u32) -> Option<String> {
        (context.as_str() == "org_freedesktop_general" && id == 5).then(|| "c0ffee".into())
    }

    fn random(&mut self) -> [u8; 16] {
        [0xbb; 16]
    }
}

fn unix_server() -> ServerConfig {
    ServerConfig {
        guid: Guid::from_bytes([7; 16]),
        mechanisms: Mechanisms::ALL,
        peer: PeerIdentity { uid: Some(1000) },
        fds: FdSupport::Available,
        cookie_context: CookieContext::default(),
    }
}

fn tcp_server() -> ServerConfig {
    ServerConfig { peer: PeerIdentity { uid: None }, fds: FdSupport::Unavailable, ..unix_server() }
}

/// The lines of one side in a transcript. `GUID` is replaced by the server's GUID.
fn side<'t>(transcript: &'t str, mark: &str) -> impl Iterator<Item = String> + use<'t> {
    let mark = format!("{mark}:");
    let lines = transcript.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.filter_map(move |line| {
        Some(line.strip_prefix(&mark)?.trim_start().replace("GUID", GUID_TEXT))
    })
}

/// Compares lines; an expected `ERROR` matches any explanation.
#[track_caller]
fn check_lines(expected: impl Iterator<Item = String>, found: &[u8], transcript: &str) {
    let found = String::from_utf8(found.to_vec()).expect("lines are ASCII");
    assert!(found.is_empty() || found.ends_with("\r\n"), "{found:?}");
    let found: Vec<&str> = found.split_terminator("\r\n").collect();
    let expected: Vec<String> = expected.collect();
    let agrees = |(wanted, found): (&String, &&str)| {
        wanted == found || wanted == "ERROR" && found.starts_with("ERROR ")
    };
    let same = expected.len() == found.len() && expected.iter().zip(&found).all(agrees);
    assert!(same, "{transcript}\nexpected {expected:#?}\nfound {found:#?}");
}

/// All ways to split `bytes` once (some of them under Miri), and the split into single bytes.
fn cuts(bytes: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    let places = (0..=bytes.len()).step_by(if cfg!(miri) { 41 } else { 1 });
    let once = places.map(|at| vec![&bytes[..at], &bytes[at..]]);
    once.chain([bytes.chunks(1).collect()])
}

fn sequential(attempts: impl Into<Vec<AuthenticationAttempt>>, fds: FdNegotiation) -> ClientConfig {
    let mut then = attempts.into();
    let first = then.remove(0);
    ClientConfig { plan: AuthenticationPlan::Sequential { first, then }, fds }
}

fn pipelined(direct: DirectAttempt, fds: FdNegotiation) -> ClientConfig {
    ClientConfig { plan: AuthenticationPlan::Pipelined(direct), fds }
}

fn external() -> AuthenticationAttempt {
    DirectAttempt::External { uid: 1000 }.into()
}

fn cookie() -> AuthenticationAttempt {
    AuthenticationAttempt::Cookie { user: "user".into() }
}

fn anonymous() -> AuthenticationAttempt {
    DirectAttempt::Anonymous { trace: String::new() }.into()
}

/// Connects a client and a server, `chunk` bytes at a time, until both are finished.
fn converse(
    client: &ClientConfig,
    server: &ServerConfig,
    chunk: usize,
) -> (AuthenticatedIdentity, FdPassing, FdPassing) {
    let mut to_server = Vec::new();
    let mut to_client = Vec::new();
    let mut client = SaslClient::start(client.clone(), &mut to_server);
    let mut server = SaslServer::new(server.clone());
    let (mut served, mut connected) = (None, None);
    while served.is_none() || connected.is_none() {
        assert!(!to_server.is_empty() || !to_client.is_empty(), "both wait");
        let piece: Vec<u8> = to_server.drain(..chunk.min(to_server.len())).collect();
        let progress = server.receive(&piece, NOW, &mut TestSystem, &mut to_client);
        if let serving::ServerProgress::Done { identity, fds, .. } =
            progress.expect("the two agree")
        {
            served = Some((identity, fds));
        }
        let piece: Vec<u8> = to_client.drain(..chunk.min(to_client.len())).collect();
        let progress = client.receive(&piece, &mut TestSystem, &mut to_server);
        if let ClientProgress::Done { guid, fds, .. } = progress.expect("the two agree") {
            assert_eq!(guid, Some(Guid::from_bytes([7; 16])));
            connected = Some(fds);
        }
    }
    let (identity, fds) = served.expect("the loop ended");
    (identity, fds, connected.expect("the loop ended"))
}

#[test]
fn client_and_server_reach_the_same_outcome() {
    use FdNegotiation::{NotRequested, Requested};
    use FdPassing::{Agreed, Off};
    let user = AuthenticatedIdentity::Uid(1000);
    for (client, server, identity, fds) in [
        (sequential([external()], Requested), unix_server(), user, Agreed),
        (sequential([external()], NotRequested), unix_server(), user, Off),
        (
            sequential([DirectAttempt::ExternalWithoutUid.into()], Requested),
            unix_server(),
            user,
            Agreed,
        ),
        (sequential([external(), cookie()], Requested), tcp_server(), user, Off),
        (sequential([cookie()], NotRequested), tcp_server(), user, Off),
        (
            sequential([anonymous()], Requested),
            unix_server(),
            AuthenticatedIdentity::Anonymous,
            Agreed,
        ),
        (pipelined(DirectAttempt::External { uid: 1000 }, Requested), unix_server(), user, Agreed),
        (pipelined(DirectAttempt::ExternalWithoutUid, Requested), unix_server(), user, Agreed),
        (
            pipelined(DirectAttempt::Anonymous { trace: "me".into() }, Requested),
            tcp_server(),
            AuthenticatedIdentity::Anonymous,
            Off,
        ),
    ] {
        for chunk in [1, 2, 3, 7, 1 << 16] {
            assert_eq!(converse(&client, &server, chunk), (identity, fds, fds), "{client:?}");
        }
    }
}
