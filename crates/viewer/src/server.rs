//! All of it behind an address.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::{io, thread};

use analyst::Frame;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use capture::bodies::Bodies;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::bus::{Bus, Calls};
use crate::export::{ExportError, export};
use crate::guard::{self, Token};
use crate::subject::Subject;
use crate::watch::Watched;
use crate::{assets, stream};

/// Shows a page to who knows its address.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    site: Arc<Site>,
}

#[derive(Debug)]
struct Site {
    address: SocketAddr,
    token: Token,
    subject: Subject,
    /// The bus, if it is one that is looked at.
    bus: Option<Bus>,
}

impl Server {
    /// Listens on this port of the loopback address, or on any that is free. `calls` is what the page
    /// may do on a bus.
    pub fn bind(port: Option<u16>, subject: Subject, calls: Calls) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        listener.set_nonblocking(true)?;
        let (address, token) = (listener.local_addr()?, Token::random()?);
        let bus = subject.place().map(|place| Bus::new(place.clone(), calls));
        Ok(Self { listener, site: Arc::new(Site { address, token, subject, bus }) })
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.site.address, self.site.token.as_str())
    }

    /// Answers from now on, in a thread of its own, for as long as the program runs.
    pub fn start(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let Self { listener, site } = self;
        let serve = async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, routes(site)).await
        };
        thread::Builder::new().name("viewer".into()).spawn(move || runtime.block_on(serve))?;
        Ok(())
    }
}

fn routes(site: Arc<Site>) -> Router {
    Router::new()
        .route("/{token}/", get(page))
        .route("/{token}/stream", get(told))
        .route("/{token}/ask", post(asked))
        .route("/{token}/bus", post(wished))
        .route("/{token}/watch/{name}", get(watched).post(turned))
        .route("/{token}/save/{bodies}", get(saved))
        .route("/{token}/{*path}", get(file))
        .layer(DefaultBodyLimit::max(QUESTION_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), guarded))
        .with_state(site)
}

/// Lets pass who may ask.
async fn guarded(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let word = request.uri().path().split('/').nth(1).unwrap_or_default();
    let allowed = guard::check(request.headers(), site.address)
        .and_then(|()| if site.token.is(word) { Ok(()) } else { Err(StatusCode::NOT_FOUND) });
    let mut response = match allowed {
        Ok(()) => next.run(request).await,
        Err(status) => status.into_response(),
    };
    response.headers_mut().extend(guard::HEADERS);
    response
}

async fn page() -> Response {
    assets::file("")
}

async fn file(Path((_, path)): Path<(String, String)>) -> Response {
    assets::file(&path)
}

async fn told(State(site): State<Arc<Site>>) -> Response {
    let calls = site.bus.as_ref().map(Bus::calls);
    framed(stream::body(site.subject.clone(), calls))
}

/// What the page knows that asks.
#[derive(Debug, Deserialize)]
struct Known {
    /// How many messages there were before the first one that it has.
    #[serde(default)]
    before: u64,
}

async fn asked(
    State(site): State<Arc<Site>>,
    Query(known): Query<Known>,
    question: Bytes,
) -> Response {
    let answer = move || {
        let frame = site.subject.with(|shown| match shown.before() {
            before if before == known.before => analyst::answer(shown.capture(), &question),
            // Rows, places and times of the question are not those that are here.
            before => Frame::new("moved").with("before", before),
        });
        frame.into_bytes()
    };
    match spawn_blocking(answer).await {
        Ok(bytes) => framed(Body::from(bytes)),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Asks the bus, or does something there.
async fn wished(State(site): State<Arc<Site>>, wish: Bytes) -> Response {
    let Some(bus) = &site.bus else { return StatusCode::NOT_FOUND.into_response() };
    match serde_json::from_slice(&wish) {
        Ok(wish) => {
            let told = bus.fulfil(wish).await.to_string();
            ([(CONTENT_TYPE, "application/json")], told).into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn watched(
    State(site): State<Arc<Site>>,
    Path((_, name)): Path<(String, String)>,
    Query(watched): Query<Watched>,
) -> Response {
    match &site.bus {
        Some(bus) => framed(bus.watch(name, watched)),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Turns what a page hears of a bus to something else.
async fn turned(
    State(site): State<Arc<Site>>,
    Path((_, name)): Path<(String, String)>,
    Query(watched): Query<Watched>,
) -> StatusCode {
    let is_heard = site.bus.as_ref().is_some_and(|bus| bus.turn(&name, watched));
    if is_heard { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}

/// The whole as one file, to be saved.
async fn saved(
    State(site): State<Arc<Site>>,
    Path((_, bodies)): Path<(String, String)>,
) -> Response {
    let bodies = match bodies.as_str() {
        "whole" => Bodies::Whole,
        "redacted" => Bodies::Redacted,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let write = move || {
        let mut file = Vec::new();
        let title = site.subject.title();
        site.subject.with(|shown| export(shown.capture(), title, bodies, &mut file))?;
        Ok(file)
    };
    match spawn_blocking(write).await {
        Ok(Ok(file)) => ([(CONTENT_DISPOSITION, SAVED_AS)], file).into_response(),
        Ok(Err(error @ ExportError::NotBuilt)) => {
            (StatusCode::NOT_FOUND, error.to_string()).into_response()
        }
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

const SAVED_AS: &str = "attachment; filename=\"diligence.html\"";

fn framed(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/octet-stream")], body).into_response()
}

/// Bytes of a question.
const QUESTION_MAX: usize = 1 << 20;
