//! Fuzzing targets for both sides of the handshake. The outcome must not depend on the chunking.

use wire::guid::Guid;
use wire::sasl::client::{
    AuthenticationAttempt, AuthenticationPlan, Cookies, DirectAttempt, FdNegotiation, SaslClient,
};
use wire::sasl::cookie::{Cookie, CookieContext};
use wire::sasl::server::{
    self, AuthenticatedIdentity, Authority, CookieRequest, FdSupport, PeerIdentity, SaslServer,
};
use wire::sasl::{ClientConfig, Mechanisms, ServerConfig, client};

use crate::seed::{Seed, numbered, split_first};

/// Feeds a server with the lines of a client. The first byte selects the transport and the size of
/// the pieces.
pub fn server(bytes: &[u8]) {
    let (options, input) = split_first(bytes);
    let whole = serve(options, input.len(), input);
    let pieces = serve(options, 1 + usize::from(options >> 2) % 32, input);
    assert_eq!(pieces, whole);
    let (outcome, out, _) = whole;
    // A client that does not read must not make the server queue much.
    assert!(out.len() <= ANSWERS_LEN_MAX, "{} bytes are answered", out.len());
    if let Ok(server::ServerProgress::Done { identity, .. }) = outcome {
        let expected = if options & 1 == 0 {
            AuthenticatedIdentity::Uid(1000)
        } else {
            AuthenticatedIdentity::Anonymous
        };
        assert!(
            identity == expected
                || identity == AuthenticatedIdentity::Anonymous
                || mentions_cookies(input),
            "{identity:?}"
        );
    }
}

/// True if the input mentions the cookie mechanism: without credentials from the transport, only a
/// cookie identifies a user.
fn mentions_cookies(input: &[u8]) -> bool {
    input.windows(16).any(|word| word == b"DBUS_COOKIE_SHA1")
}

type FuzzedHandshake = (Result<server::ServerProgress, server::Violation>, Vec<u8>, usize);

fn serve(options: u8, piece: usize, input: &[u8]) -> FuzzedHandshake {
    let is_local = options & 1 == 0;
    let mut server = SaslServer::new(ServerConfig {
        guid: Guid::from_bytes([7; 16]),
        mechanisms: Mechanisms::ALL,
        peer: PeerIdentity { uid: is_local.then_some(1000) },
        fds: if is_local { FdSupport::Available } else { FdSupport::Unavailable },
        cookie_context: CookieContext::default(),
    });
    let mut out = Vec::new();
    let mut consumed = 0;
    for piece in input.chunks(piece.max(1)) {
        match server.receive(piece, 0, &mut FixedAuthority, &mut out) {
            Ok(server::ServerProgress::NeedMore) => consumed += piece.len(),
            Ok(server::ServerProgress::Done { consumed: last, identity, fds }) => {
                let done = server::ServerProgress::Done { consumed: 0, identity, fds };
                return (Ok(done), out, consumed + last);
            }
            Err(violation) => return (Err(violation), out, 0),
        }
    }
    (Ok(server::ServerProgress::NeedMore), out, consumed)
}

/// Feeds a client with the lines of a server. The first byte selects the client's plan and the size
/// of the pieces.
pub fn client(bytes: &[u8]) {
    let (options, input) = split_first(bytes);
    let whole = connect(options, input.len(), input);
    let pieces = connect(options, 1 + usize::from(options >> 3) % 16, input);
    assert_eq!(pieces, whole);
}

type FuzzedLogin = (Result<client::ClientProgress, client::AuthenticationFailure>, Vec<u8>, usize);

fn connect(options: u8, piece: usize, input: &[u8]) -> FuzzedLogin {
    let external = DirectAttempt::External { uid: 1000 };
    let anonymous = DirectAttempt::Anonymous { trace: "here".into() };
    let plan = match options & 3 {
        0 => AuthenticationPlan::Pipelined(external),
        1 => AuthenticationPlan::Pipelined(anonymous),
        2 => AuthenticationPlan::Sequential {
            first: AuthenticationAttempt::Cookie { user: "user".into() },
            then: Vec::new(),
        },
        _ => AuthenticationPlan::Sequential {
            first: external.into(),
            then: vec![AuthenticationAttempt::Cookie { user: "user".into() }, anonymous.into()],
        },
    };
    let fds = if options & 4 == 0 { FdNegotiation::Requested } else { FdNegotiation::NotRequested };
    let mut out = Vec::new();
    let mut client = SaslClient::start(ClientConfig { plan, fds }, &mut out);
    let mut consumed = 0;
    for piece in input.chunks(piece.max(1)) {
        match client.receive(piece, &mut FixedAuthority, &mut out) {
            Ok(client::ClientProgress::NeedMore) => consumed += piece.len(),
            Ok(client::ClientProgress::Done { consumed: last, guid, fds }) => {
                let done = client::ClientProgress::Done { consumed: 0, guid, fds };
                return (Ok(done), out, consumed + last);
            }
            Err(failure) => return (Err(failure), out, 0),
        }
    }
    (Ok(client::ClientProgress::NeedMore), out, consumed)
}

/// Callbacks for one user, `user` or 1000, with one cookie.
struct FixedAuthority;

impl Authority for FixedAuthority {
    fn uid_outside(&mut self, inside: u32) -> Option<u32> {
        inside.checked_add(1000)
    }

    fn uid_of(&mut self, login_name: &str) -> Option<u32> {
        (login_name == "user").then_some(1000)
    }

    fn cookie(&mut self, request: CookieRequest<'_>) -> Option<Cookie> {
        (request.uid == 1000).then(|| Cookie { id: 5, created_unix: 0, secret: "c0ffee".into() })
    }

    fn random(&mut self) -> [u8; 16] {
        [0xaa; 16]
    }
}

impl Cookies for FixedAuthority {
    fn secret(&mut self, _: &CookieContext, id: u32) -> Option<String> {
        (id == 5).then(|| "c0ffee".into())
    }

    fn random(&mut self) -> [u8; 16] {
        [0xbb; 16]
    }
}

/// Maximum output of a server: 256 commands, each answered with a line.
const ANSWERS_LEN_MAX: usize = 256 * 256;

/// Seeds with the lines of clients.
pub fn client_inputs() -> Vec<Seed> {
    numbered([
        "\0\0AUTH EXTERNAL 31303030\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\nl\x01",
        "\x0c\0AUTH\r\nAUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n",
        "\x05\0AUTH DBUS_COOKIE_SHA1 75736572\r\nDATA 6262 6363\r\nCANCEL\r\nAUTH ANONYMOUS 61\r\n\
         BEGIN\r\n",
        "\x10\0AUTH EXTERNAL 30\r\nERROR no\r\nDATA\r\nOTHER\r\nBEGIN\r\n",
    ])
}

/// Seeds with the lines of servers.
pub fn server_inputs() -> Vec<Seed> {
    const GUID: &str = "07070707070707070707070707070707";
    numbered([
        format!("\x08OK {GUID}\r\nAGREE_UNIX_FD\r\nl\x02"),
        format!("\x03REJECTED EXTERNAL DBUS_COOKIE_SHA1\r\nREJECTED ANONYMOUS\r\nOK {GUID}\r\n"),
        format!(
            "\x12DATA 6f72675f667265656465736b746f705f67656e6572616c20352061616161\r\nOK {GUID}\r\n\
             ERROR no\r\n"
        ),
        format!("\x0bDATA\r\nERROR no\r\nOK {GUID}\r\nAGREE_UNIX_FD\r\n"),
    ])
}
