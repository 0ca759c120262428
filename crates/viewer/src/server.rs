//! All of it behind an address.

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

/// Shows a page to the user who started it.
#[derive(Debug)]
pub struct PageServer {
    site: Arc<PageSite>,
}

struct PageSite {
    address: SocketAddr,
    session: PageSession,
    redirect_file: RedirectFile,
    /// Called with the address that takes the place of the printed one.
    on_new_address: Box<dyn Fn(String) + Send + Sync>,
    subject: ViewerSubject,
    /// The bus, if it is one that is looked at.
    bus: Option<PageBus>,
}

impl PageServer {
    /// Answers on this port of the loopback address, or on any that is free, in a thread of its own for
    /// as long as the program runs. `calls` is what the page may do on a bus.
    ///
    /// An [address](Self::address) works once. `on_new_address` is called with the next one when it has
    /// been used.
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

    /// An address of the page, which works once.
    pub fn address(&self) -> String {
        self.site.session.printed_address()
    }

    /// Opens the page in the user's browser. The address from [`address`](Self::address) is not used
    /// for it.
    ///
    /// # Errors
    ///
    /// If there is no browser, or the file that leads it to the page cannot be written.
    pub fn open_browser(&self) -> io::Result<()> {
        let address = self.site.session.file_address()?;
        self.site.redirect_file.open_browser(&address)
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        // The thread goes on until the program ends, which does not wait for it.
        self.site.redirect_file.remove();
    }
}

impl fmt::Debug for PageSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("address", &self.address).finish_non_exhaustive()
    }
}

fn routes(site: Arc<PageSite>) -> Router {
    let page = Router::new()
        .route("/", get(page))
        .route("/stream", get(told))
        .route("/ask", post(asked))
        .route("/bus", post(bus_requested))
        .route("/watch/{name}", get(watched).post(turned))
        .route("/save/{bodies}", get(saved))
        .route("/{*path}", get(file))
        .layer(DefaultBodyLimit::max(QUESTION_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), with_cookie));
    page.route(&format!("/{OPEN}/{{code}}"), get(opened).head(not_opened))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), guarded))
        .with_state(site)
}

/// Answers only requests to this address, and says with each answer what browsers may do with it.
async fn guarded(State(site): State<Arc<PageSite>>, request: Request, next: Next) -> Response {
    let mut response = match guard::check(&request, site.address) {
        Ok(()) => next.run(request).await,
        Err(status) => status.into_response(),
    };
    response.headers_mut().extend(guard::HEADERS);
    response
}

/// Answers only the user's browser.
async fn with_cookie(State(site): State<Arc<PageSite>>, request: Request, next: Next) -> Response {
    match site.session.has_cookie(request.headers()) && guard::is_same_origin(&request) {
        true => next.run(request).await,
        false => (StatusCode::FORBIDDEN, Html(NO_COOKIE)).into_response(),
    }
}

/// Who only asks whether there is something at an address, as programs do that show links, does not use
/// it up.
async fn not_opened() -> StatusCode {
    StatusCode::METHOD_NOT_ALLOWED
}

/// Exchanges a code for the cookie, and leads to the page. A browser that has the cookie already gets
/// there with a used code too.
///
/// This is not a redirect by status: the cookie would not be sent to its target if the browser came here
/// from another site or a file.
async fn opened(State(site): State<Arc<PageSite>>, Path(code): Path<String>) -> Response {
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

async fn told(State(site): State<Arc<PageSite>>) -> Response {
    let calls = site.bus.as_ref().map(PageBus::calls);
    framed(stream::body(site.subject.clone(), calls))
}

/// What the page knows that asks.
#[derive(Debug, Deserialize)]
struct KnownMessages {
    /// How many messages there were before the first one that it has.
    #[serde(default)]
    before: u64,
}

async fn asked(
    State(site): State<Arc<PageSite>>,
    Query(known): Query<KnownMessages>,
    question: Bytes,
) -> Response {
    let answer = move || {
        let frame = site.subject.with(|shown| match shown.before() {
            before if before == known.before => analyst::answer(shown.capture(), &question),
            // The rows and times of the question are no longer those of this capture.
            before => PageFrame::new(&FrameHead::Moved { before }),
        });
        frame.into_bytes()
    };
    match spawn_blocking(answer).await {
        Ok(bytes) => framed(Body::from(bytes)),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Serves a request for the bus.
async fn bus_requested(State(site): State<Arc<PageSite>>, request: Bytes) -> Response {
    let Some(bus) = &site.bus else { return StatusCode::NOT_FOUND.into_response() };
    match serde_json::from_slice(&request) {
        Ok(request) => {
            let reply = bus.reply(request).await.to_json();
            ([(CONTENT_TYPE, "application/json")], reply).into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn watched(
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

/// Turns what a page hears of a bus to something else.
async fn turned(
    State(site): State<Arc<PageSite>>,
    Path(name): Path<String>,
    Query(watched): Query<Watched>,
) -> StatusCode {
    let is_heard = site.bus.as_ref().is_some_and(|bus| bus.turn(&name, watched));
    if is_heard { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}

/// The whole as one file, to be saved.
async fn saved(State(site): State<Arc<PageSite>>, Path(bodies): Path<String>) -> Response {
    let bodies = match bodies.as_str() {
        "whole" => Bodies::Whole,
        "redacted" => Bodies::Redacted,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let name = saved_name(site.subject.title(), bodies);
    let write = move || {
        let mut file = Vec::new();
        let title = site.subject.title();
        site.subject.with(|shown| export(shown.capture(), title, bodies, &mut file))?;
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

/// The name of a saved page: that of its recording, in characters that every system has in names of files.
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

/// Characters of the title of a recording in the name of a file.
const SAVED_NAME_MAX: usize = 100;

fn framed(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/octet-stream")], body).into_response()
}

const NO_COOKIE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Diligence</title>
<h1>This browser has not been let in</h1>
<p>Open the address that the program has printed last. Each address works once: when it has been used, the
program prints the next one.</p>
</html>
";

/// Bytes of a question.
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
