//! The HTTP server of a page.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::{fmt, io, thread};

use analyst::{FrameHead, PageFrame};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, SET_COOKIE};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use capture::bodies::Bodies;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::browser::{RedirectFile, redirect};
use crate::bus::{CallPermission, PageBus, WatchRefusal};
use crate::export::{PageExportError, export};
use crate::peers::OwnConnections;
use crate::session::{CodeSource, OPEN, PageSession};
use crate::subject::ViewerSubject;
use crate::watch::Watched;
use crate::{assets, guard, stream};

/// A server that shows a page to the user who started it.
#[derive(Debug)]
pub struct PageServer {
    site: Arc<PageSite>,
}

struct PageSite {
    address: SocketAddr,
    session: PageSession,
    redirect_file: RedirectFile,
    /// Called with the new address when the printed one has been used.
    on_new_address: Box<dyn Fn(String) + Send + Sync>,
    subject: ViewerSubject,
    /// The bus, if the subject is one.
    bus: Option<PageBus>,
}

impl PageServer {
    /// Starts the server in a thread, on this port of the loopback address or on any free port. It
    /// runs until the program ends. `calls` says whether the page may call methods on a bus.
    ///
    /// An [address](Self::address) works once. When it has been used, `on_new_address` is called
    /// with the next one.
    ///
    /// # Errors
    ///
    /// If the port cannot be bound, or if random numbers or a thread are not available.
    pub fn start(
        port: Option<u16>,
        subject: ViewerSubject,
        calls: CallPermission,
        on_new_address: impl Fn(String) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let session = PageSession::new(address)?;
        let bus = subject.place().map(|place| PageBus::new(place.clone(), calls));
        let redirect_file = RedirectFile::default();
        let on_new_address = Box::new(on_new_address);
        let site =
            Arc::new(PageSite { address, session, redirect_file, on_new_address, subject, bus });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let routes = routes(Arc::clone(&site));
        let serve = async move {
            let listener = OwnConnections::new(tokio::net::TcpListener::from_std(listener)?);
            axum::serve(listener, routes).await
        };
        thread::Builder::new().name("viewer".into()).spawn(move || runtime.block_on(serve))?;
        Ok(Self { site })
    }

    /// The current address of the page, which works once.
    pub fn address(&self) -> String {
        self.site.session.printed_address()
    }

    /// Opens the page in the user's browser. This does not use up the [`address`](Self::address).
    ///
    /// # Errors
    ///
    /// If no browser can be started, or if the file that redirects it to the page cannot be
    /// written.
    pub fn open_browser(&self) -> io::Result<()> {
        let address = self.site.session.file_address()?;
        self.site.redirect_file.open_browser(&address)
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        // The server thread is not stopped here: it runs until the program ends.
        self.site.redirect_file.remove();
    }
}

impl fmt::Debug for PageSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageSite").field("address", &self.address).finish_non_exhaustive()
    }
}

fn routes(site: Arc<PageSite>) -> Router {
    let page = Router::new()
        .route("/", get(page))
        .route("/stream", get(stream_frames))
        .route("/ask", post(answer))
        .route("/bus", post(serve_bus_request))
        .route("/watch/{name}", get(start_watch).post(change_watch))
        .route("/save/{bodies}", get(save))
        .route("/{*path}", get(file))
        .layer(DefaultBodyLimit::max(QUESTION_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), require_cookie));
    page.route(&format!("/{OPEN}/{{code}}"), get(redeem_code).head(reject_head))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), check_origin))
        .with_state(site)
}

/// Rejects requests of other sites, and adds the security headers to every response.
async fn check_origin(State(site): State<Arc<PageSite>>, request: Request, next: Next) -> Response {
    let mut response = match guard::check(&request, site.address) {
        Ok(()) => next.run(request).await,
        Err(status) => status.into_response(),
    };
    response.headers_mut().extend(guard::HEADERS);
    response
}

/// Rejects requests without the cookie, and requests of other pages in the same browser.
async fn require_cookie(
    State(site): State<Arc<PageSite>>,
    request: Request,
    next: Next,
) -> Response {
    match site.session.has_cookie(request.headers()) && guard::is_same_origin(&request) {
        true => next.run(request).await,
        false => (StatusCode::FORBIDDEN, Html(NO_COOKIE)).into_response(),
    }
}

/// Rejects HEAD requests, so that a program that only checks links, as chat programs do, does not
/// use up the code.
async fn reject_head() -> StatusCode {
    StatusCode::METHOD_NOT_ALLOWED
}

/// Exchanges a code for the cookie and redirects to the page. A browser that already has the cookie
/// reaches the page with a used code, too.
///
/// This is not an HTTP redirect because the browser would not send the cookie to its target if it
/// came here from another site or from a file.
async fn redeem_code(State(site): State<Arc<PageSite>>, Path(code): Path<String>) -> Response {
    let to_page = || Html(redirect("/"));
    match site.session.redeem(&code) {
        Ok(None) => (StatusCode::FORBIDDEN, to_page()).into_response(),
        Ok(Some(source)) => {
            match source {
                CodeSource::Printed { next } => (site.on_new_address)(next),
                CodeSource::File => site.redirect_file.remove(),
            }
            ([(SET_COOKIE, site.session.set_cookie())], to_page()).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn page() -> Response {
    assets::file("")
}

async fn file(Path(path): Path<String>) -> Response {
    assets::file(&path)
}

async fn stream_frames(State(site): State<Arc<PageSite>>) -> Response {
    let calls = site.bus.as_ref().map(PageBus::calls);
    framed(stream::body(site.subject.clone(), calls))
}

/// The part of the messages that the page has.
#[derive(Debug, Deserialize)]
struct KnownMessages {
    /// The number of messages that were dropped before the first one that the page has.
    #[serde(default)]
    before: u64,
}

async fn answer(
    State(site): State<Arc<PageSite>>,
    Query(known): Query<KnownMessages>,
    question: Bytes,
) -> Response {
    let answer_question = move || {
        let frame = site.subject.with(|content| match content.before() {
            before if before == known.before => analyst::answer(content.capture(), &question),
            // The question refers to rows and times of an older capture.
            before => PageFrame::new(&FrameHead::Moved { before }),
        });
        frame.into_bytes()
    };
    match spawn_blocking(answer_question).await {
        Ok(bytes) => framed(Body::from(bytes)),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Serves a request to the bus.
async fn serve_bus_request(State(site): State<Arc<PageSite>>, request: Bytes) -> Response {
    let Some(bus) = &site.bus else { return StatusCode::NOT_FOUND.into_response() };
    match serde_json::from_slice(&request) {
        Ok(request) => {
            let reply = bus.reply(request).await.to_json();
            ([(CONTENT_TYPE, "application/json")], reply).into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn start_watch(
    State(site): State<Arc<PageSite>>,
    Path(name): Path<String>,
    Query(watched): Query<Watched>,
) -> Response {
    let Some(bus) = &site.bus else { return StatusCode::NOT_FOUND.into_response() };
    match bus.watch(name, watched) {
        Ok(body) => framed(body),
        Err(refusal) => {
            let status = match refusal {
                WatchRefusal::TooMany => StatusCode::TOO_MANY_REQUESTS,
                WatchRefusal::NameTaken => StatusCode::CONFLICT,
            };
            (status, refusal.to_string()).into_response()
        }
    }
}

/// Changes the service and object that a watch reports on.
async fn change_watch(
    State(site): State<Arc<PageSite>>,
    Path(name): Path<String>,
    Query(watched): Query<Watched>,
) -> StatusCode {
    let is_changed = site.bus.as_ref().is_some_and(|bus| bus.change_watch(&name, watched));
    if is_changed { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}

/// Sends the page and its recording in one file, for the user to save.
async fn save(State(site): State<Arc<PageSite>>, Path(bodies): Path<String>) -> Response {
    let bodies = match bodies.as_str() {
        "whole" => Bodies::Whole,
        "redacted" => Bodies::Redacted,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let name = saved_name(site.subject.title(), bodies);
    let write = move || {
        let mut file = Vec::new();
        let title = site.subject.title();
        site.subject.with(|content| export(content.capture(), title, bodies, &mut file))?;
        Ok(file)
    };
    match spawn_blocking(write).await {
        Ok(Ok(file)) => {
            let disposition = format!("attachment; filename=\"{name}\"");
            ([(CONTENT_DISPOSITION, disposition)], file).into_response()
        }
        Ok(Err(error @ PageExportError::NotBuilt)) => {
            (StatusCode::NOT_FOUND, error.to_string()).into_response()
        }
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The file name for a saved page: the title of its recording, in characters that every file system
/// allows.
fn saved_name(title: &str, bodies: Bodies) -> String {
    let stem = title.strip_suffix(".pcapng").or_else(|| title.strip_suffix(".pcap"));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let stem = stem.unwrap_or(title).chars().map(|c| if is_plain(c) { c } else { '-' });
    let stem: String = stem.take(SAVED_NAME_MAX).collect();
    let stem = match stem.trim_matches(['.', '-']) {
        "" => "diligence",
        stem => stem,
    };
    match bodies {
        Bodies::Redacted => format!("{stem}-redacted.html"),
        _ => format!("{stem}.html"),
    }
}

/// The maximum number of characters of a title in a file name.
const SAVED_NAME_MAX: usize = 100;

fn framed(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/octet-stream")], body).into_response()
}

const NO_COOKIE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Diligence</title>
<h1>This browser is not authorized</h1>
<p>Open the address that the program printed last. Each address works once. After its use, the program
prints a new one.</p>
</html>
";

/// The maximum size of a request body, in bytes.
const QUESTION_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_pages_have_the_names_of_their_recordings() {
        for (title, bodies, expected) in [
            ("session.pcapng", Bodies::Whole, "session.html"),
            ("session.pcap", Bodies::Redacted, "session-redacted.html"),
            ("a.pcapng, b.pcap", Bodies::Whole, "a.pcapng--b.html"),
            ("x\"\r\nSet-Cookie: y.pcapng", Bodies::Whole, "x---Set-Cookie--y.html"),
            ("unix:path=/run/bus", Bodies::Whole, "unix-path--run-bus.html"),
            ("..", Bodies::Redacted, "diligence-redacted.html"),
        ] {
            assert_eq!(saved_name(title, bodies), expected);
        }
    }
}
