//! Authentication, on both ends of a connection.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use sys::filesystem::{LockFile, Privacy, ensure_private_directory};
use sys::users::UserAccount;
use wire::guid::Guid;
use wire::sasl::client::{
    AuthenticationAttempt, AuthenticationPlan, ClientConfig, ClientProgress, Cookies,
    DirectAttempt, FdNegotiation, SaslClient,
};
use wire::sasl::cookie::{CHALLENGE_LEN, Cookie, CookieContext, Keyring, NEW_COOKIE_LEN, Refresh};
use wire::sasl::server::{
    AuthenticatedIdentity, Authority, CookieRequest, FdSupport, PeerIdentity, SaslServer,
    ServerConfig, ServerProgress,
};
use wire::sasl::{FdPassing, Mechanisms};

/// One end of an authentication.
pub(crate) enum Login {
    /// This end has connected.
    Client(SaslClient),
    /// This end has accepted the connection, which has this socket.
    Server(SaslServer, Arc<OwnedFd>),
}

/// The result of a successful authentication.
pub(crate) struct LoginResult {
    /// The number of bytes of the input that belong to the authentication.
    pub(crate) consumed: usize,
    pub(crate) fds: FdPassing,
    /// The identifier of the server, if this end is the client.
    pub(crate) server: Option<Guid>,
    /// The identity of the client, if this end is the server.
    pub(crate) identity: Option<AuthenticatedIdentity>,
}

impl Login {
    pub(crate) fn client(passes_fds: bool, out: &mut Vec<u8>) -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let anonymous = DirectAttempt::Anonymous { trace: String::new() };
        let plan = AuthenticationPlan::Sequential {
            first: DirectAttempt::External { uid }.into(),
            then: vec![AuthenticationAttempt::Cookie { user: uid.to_string() }, anonymous.into()],
        };
        let fds = if passes_fds { FdNegotiation::Requested } else { FdNegotiation::NotRequested };
        Self::Client(SaslClient::start(ClientConfig { plan, fds }, out))
    }

    pub(crate) fn server(
        socket: &Arc<OwnedFd>,
        guid: Guid,
        mechanisms: Mechanisms,
        uid: Option<u32>,
        passes_fds: bool,
    ) -> Self {
        let fds = if passes_fds { FdSupport::Available } else { FdSupport::Unavailable };
        let (peer, cookie_context) = (PeerIdentity { uid }, CookieContext::default());
        let config = ServerConfig { guid, mechanisms, peer, fds, cookie_context };
        Self::Server(SaslServer::new(config), Arc::clone(socket))
    }

    /// Processes bytes and appends the answers. Returns `Ok(None)` if more bytes are needed.
    pub(crate) fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<LoginResult>, ()> {
        match self {
            Self::Client(client) => {
                match client.receive(input, &mut UserKeyrings, out).map_err(drop)? {
                    ClientProgress::NeedMore => Ok(None),
                    ClientProgress::Done { consumed, guid, fds } => {
                        Ok(Some(LoginResult { consumed, fds, server: guid, identity: None }))
                    }
                }
            }
            Self::Server(server, socket) => {
                let now = sys::clock::realtime().as_secs();
                let mut authority = ServerAuthority(Arc::clone(socket));
                match server.receive(input, now, &mut authority, out).map_err(drop)? {
                    ServerProgress::NeedMore => Ok(None),
                    ServerProgress::Done { consumed, identity, fds } => {
                        let identity = Some(identity);
                        Ok(Some(LoginResult { consumed, fds, server: None, identity }))
                    }
                }
            }
        }
    }
}

/// Bytes that other processes cannot predict.
pub(crate) fn random_bytes<const LEN: usize>() -> [u8; LEN] {
    let mut bytes = [0; LEN];
    // The kernel always has random bytes after the start of the system.
    sys::random::fill(&mut bytes).expect("the kernel has random bytes");
    bytes
}

/// The directory with the cookies of this user, if it is private.
fn keyrings() -> io::Result<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let home = env::var_os("HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(UserAccount::by_id(uid).ok()??.home().to_owned()));
    let directory = home.ok_or(io::ErrorKind::NotFound)?.join(".dbus-keyrings");
    match ensure_private_directory(&directory)? {
        Privacy::Private => Ok(directory),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// The cookies that a client proves to know.
struct UserKeyrings;

impl Cookies for UserKeyrings {
    fn secret(&mut self, context: &CookieContext, id: u32) -> Option<String> {
        let file = keyrings().ok()?.join(context.as_str());
        let keyring = Keyring::parse(&fs::read(file).ok()?);
        keyring.find(id).map(|cookie| cookie.secret.clone())
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        random_bytes()
    }
}

/// What a server asks the system about a client.
struct ServerAuthority(Arc<OwnedFd>);

impl Authority for ServerAuthority {
    fn uid_outside(&mut self, inside: u32) -> Option<u32> {
        sys::credentials::uid_outside_of_peer(&*self.0, inside).ok().flatten()
    }

    fn uid_of(&mut self, login_name: &str) -> Option<u32> {
        UserAccount::by_name(login_name).ok().flatten().map(|account| account.uid())
    }

    fn cookie(&mut self, request: CookieRequest<'_>) -> Option<Cookie> {
        (request.uid == rustix::process::geteuid().as_raw())
            .then(|| usable_cookie(&request).ok())?
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        random_bytes()
    }
}

fn usable_cookie(request: &CookieRequest<'_>) -> io::Result<Cookie> {
    let directory = keyrings()?;
    let file = directory.join(request.context.as_str());
    let read = || fs::read(&file).map(|bytes| Keyring::parse(&bytes)).unwrap_or_default();
    if let Some(cookie) = read().newest(request.now_unix) {
        return Ok(cookie.clone());
    }
    let _lock = LockFile::create(directory.join(format!("{}.lock", request.context)))?;
    let mut keyring = read();
    if keyring.refresh(request.now_unix, random_bytes::<NEW_COOKIE_LEN>) == Refresh::Changed {
        let new = directory.join(format!("{}.new", request.context));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&new)?.write_all(keyring.to_string().as_bytes())?;
        fs::rename(new, &file)?;
    }
    keyring.newest(request.now_unix).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
}
