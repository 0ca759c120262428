//! Checks of HTTP requests against cross-site requests and DNS rebinding.
//!
//! A request must be addressed to the page's own address and come from the page itself. The
//! `Origin` header reveals a page of another site in the same browser. The `Host` header reveals a
//! site whose name resolves to this address. [`session`](crate::session) checks that the browser
//! belongs to the user.

use std::net::SocketAddr;

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderName, HeaderValue, StatusCode};

/// Accepts a request that names `address` as its host and, if it has an origin, as its origin.
///
/// # Errors
///
/// - `400 Bad Request`: the request has several `Host` headers.
/// - `421 Misdirected Request`: the request is for another host.
/// - `403 Forbidden`: the request comes from a page of another origin.
pub(crate) fn check<B>(request: &Request<B>, address: SocketAddr) -> Result<(), StatusCode> {
    let is_ours = |name: &str| host_names(address).iter().any(|ours| ours == name);
    let headers = request.headers();
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    if hosts.next().is_some() {
        return Err(StatusCode::BAD_REQUEST);
    }
    let authority = request.uri().authority().map(|authority| authority.as_str());
    if !host.is_some_and(is_ours) || !authority.is_none_or(is_ours) {
        return Err(StatusCode::MISDIRECTED_REQUEST);
    }
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
    if origin.is_some_and(is_ours) { Ok(()) } else { Err(StatusCode::FORBIDDEN) }
}

/// True if the page itself or the user made the request. Requests with the cookie need this check,
/// because browsers also send the cookie for pages on other ports of the same host. They report
/// such a page in the header `Sec-Fetch-Site`.
pub(crate) fn is_same_origin<B>(request: &Request<B>) -> bool {
    let site = request.headers().get(FETCH_SITE);
    site.is_none_or(|site| site == "same-origin" || site == "none")
}

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The values of `Host` that browsers send for the address.
fn host_names(address: SocketAddr) -> [String; 2] {
    [address.to_string(), format!("localhost:{}", address.port())]
}

/// Headers of every response. They allow the page to run only its own code and to connect only to
/// this server, forbid frames, and keep the page's address out of `Referer` headers.
pub(crate) const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        axum::http::header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
             img-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (axum::http::header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (axum::http::header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (axum::http::header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn request(uri: &str, fields: &[(HeaderName, &'static str)]) -> Request<()> {
        let mut request = Request::builder().uri(uri).body(()).unwrap();
        for (name, value) in fields {
            request.headers_mut().append(name, HeaderValue::from_static(value));
        }
        request
    }

    #[test]
    fn requests_must_name_this_address_and_origin() {
        let address = "127.0.0.1:8080".parse().unwrap();
        const OURS: &str = "127.0.0.1:8080";
        let (misdirected, forbidden) = (StatusCode::MISDIRECTED_REQUEST, StatusCode::FORBIDDEN);
        for (uri, fields, expected) in [
            ("/", vec![(HOST, OURS)], Ok(())),
            ("/", vec![(HOST, "localhost:8080"), (ORIGIN, "http://localhost:8080")], Ok(())),
            ("/", vec![(HOST, OURS), (ORIGIN, "http://127.0.0.1:8080")], Ok(())),
            ("http://127.0.0.1:8080/", vec![(HOST, OURS)], Ok(())),
            ("/", vec![], Err(misdirected)),
            ("/", vec![(HOST, "127.0.0.1:81")], Err(misdirected)),
            ("/", vec![(HOST, "evil.example:8080")], Err(misdirected)),
            ("http://evil.example/", vec![(HOST, OURS)], Err(misdirected)),
            ("http://127.0.0.1:8080/", vec![(HOST, "evil.example")], Err(misdirected)),
            ("/", vec![(HOST, OURS), (HOST, "evil.example")], Err(StatusCode::BAD_REQUEST)),
            ("/", vec![(HOST, OURS), (HOST, OURS)], Err(StatusCode::BAD_REQUEST)),
            ("/", vec![(HOST, OURS), (ORIGIN, "http://evil.example")], Err(forbidden)),
            ("/", vec![(HOST, OURS), (ORIGIN, "https://127.0.0.1:8080")], Err(forbidden)),
            ("/", vec![(HOST, OURS), (ORIGIN, "null")], Err(forbidden)),
        ] {
            assert_eq!(check(&request(uri, &fields), address), expected, "{uri} {fields:?}");
        }
    }

    #[test]
    fn requests_from_other_ports_and_sites_are_not_same_origin() {
        for (site, expected) in [
            (None, true),
            (Some("none"), true),
            (Some("same-origin"), true),
            (Some("same-site"), false),
            (Some("cross-site"), false),
        ] {
            let fields: Vec<_> = site.map(|site| (FETCH_SITE, site)).into_iter().collect();
            assert_eq!(is_same_origin(&request("/", &fields)), expected, "{site:?}");
        }
    }
}
