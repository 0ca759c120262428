//! The embedded files of the page.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// An embedded file of the page.
#[derive(Clone, Copy, Debug)]
struct Asset {
    path: &'static str,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/built.rs"));

/// The content of the file at this path, if it exists.
pub(crate) fn bytes(path: &str) -> Option<&'static [u8]> {
    BUILT.iter().find(|asset| asset.path == path).map(|asset| asset.bytes)
}

/// The response with the file at this path. The empty path is the page itself.
pub(crate) fn file(path: &str) -> Response {
    let path = if path.is_empty() { INDEX } else { path };
    match bytes(path) {
        Some(bytes) => ([(header::CONTENT_TYPE, media_type(path))], bytes).into_response(),
        None if path == INDEX => {
            ([(header::CONTENT_TYPE, media_type(path))], NOT_BUILT).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

const INDEX: &str = "index.html";

const NOT_BUILT: &str = "<!doctype html>
<html lang=en>
<meta charset=utf-8>
<title>Diligence</title>
<h1>The page is not part of this program</h1>
<p>The program was built with <code>cargo build</code>, which does not build the page. To build both:</p>
<pre>make build</pre>
<p>This needs Node 20 or later, and puts the page into <code>target/release/diligence</code>.
All other commands work without it: see <code>diligence --help</code>.</p>
";
