//! The part of HTTP that serving one document needs.

/// A parsed HTTP request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MetricsRequest {
    /// The request is not complete yet.
    Incomplete,
    /// A request for the document.
    Get,
    /// A request for the header only.
    Head,
    /// The client closed its sending side without a request: it gets the document without a header.
    Plain,
    /// The requested path does not exist.
    NotFound,
    /// The method is not supported.
    MethodNotAllowed,
    /// The bytes are not an HTTP request.
    Bad,
}

/// Whether more bytes may follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MetricsStream {
    Open,
    Ended,
}

impl MetricsRequest {
    /// Parses the bytes received so far.
    pub(super) fn parse(bytes: &[u8], stream: MetricsStream) -> Self {
        match (bytes, stream) {
            ([], MetricsStream::Ended) => Self::Plain,
            _ if has_end(bytes) => Self::of_line(bytes),
            (_, MetricsStream::Open) if bytes.len() <= REQUEST_LEN_MAX => Self::Incomplete,
            _ => Self::Bad,
        }
    }

    fn of_line(bytes: &[u8]) -> Self {
        let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let Ok(line) = str::from_utf8(line) else { return Self::Bad };
        let words: Vec<_> = line.trim_end().split(' ').collect();
        let [method, target, version] = words[..] else { return Self::Bad };
        if !version.starts_with("HTTP/1.") {
            return Self::Bad;
        }
        let path = target.split('?').next().unwrap_or_default();
        match (method, PATHS.contains(&path)) {
            ("GET" | "HEAD", false) => Self::NotFound,
            ("GET", true) => Self::Get,
            ("HEAD", true) => Self::Head,
            _ => Self::MethodNotAllowed,
        }
    }

    /// The complete response to the request.
    pub(super) fn answer(self, document: impl FnOnce() -> String) -> Vec<u8> {
        let (status, body) = match self {
            Self::Incomplete => return Vec::new(),
            Self::Plain => return document().into_bytes(),
            Self::Get | Self::Head => ("200 OK", document()),
            Self::NotFound => ("404 Not Found", String::from("Metrics are served at /metrics.\n")),
            Self::MethodNotAllowed => ("405 Method Not Allowed", String::from("Use GET.\n")),
            Self::Bad => ("400 Bad Request", String::from("Expected an HTTP request.\n")),
        };
        let kind = match self {
            Self::Get | Self::Head => CONTENT_TYPE,
            _ => "text/plain; charset=utf-8",
        };
        let len = body.len();
        let mut answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len}\r\n\
             Connection: close\r\n\r\n"
        );
        if self != Self::Head {
            answer.push_str(&body);
        }
        answer.into_bytes()
    }
}

/// Whether the empty line after the header was received.
fn has_end(bytes: &[u8]) -> bool {
    let ends = |end: &[u8]| bytes.windows(end.len()).any(|window| window == end);
    ends(b"\r\n\r\n") || ends(b"\n\n")
}

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const PATHS: [&str; 2] = ["/metrics", "/"];

/// The maximum length of a request in bytes.
const REQUEST_LEN_MAX: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_known_by_their_first_line() {
        let check = |text: &str, stream, expected| {
            assert_eq!(MetricsRequest::parse(text.as_bytes(), stream), expected, "{text:?}");
        };
        check("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", MetricsStream::Open, MetricsRequest::Get);
        check("GET / HTTP/1.0\n\n", MetricsStream::Open, MetricsRequest::Get);
        check("GET /metrics?x=1 HTTP/1.1\r\n\r\n", MetricsStream::Open, MetricsRequest::Get);
        check("HEAD /metrics HTTP/1.1\r\n\r\n", MetricsStream::Open, MetricsRequest::Head);
        check("GET /else HTTP/1.1\r\n\r\n", MetricsStream::Open, MetricsRequest::NotFound);
        check(
            "POST /metrics HTTP/1.1\r\n\r\n",
            MetricsStream::Open,
            MetricsRequest::MethodNotAllowed,
        );
        check("GET /metrics\r\n\r\n", MetricsStream::Open, MetricsRequest::Bad);
        check("GET /metrics SSH/2\r\n\r\n", MetricsStream::Open, MetricsRequest::Bad);
        check("GET /metrics HTTP/1.1\r\n", MetricsStream::Open, MetricsRequest::Incomplete);
        check("GET /metrics HTTP/1.1\r\n", MetricsStream::Ended, MetricsRequest::Bad);
        check("", MetricsStream::Open, MetricsRequest::Incomplete);
        check("", MetricsStream::Ended, MetricsRequest::Plain);
        check(&"x".repeat(REQUEST_LEN_MAX + 1), MetricsStream::Open, MetricsRequest::Bad);
    }

    #[test]
    fn responses_have_a_content_length_and_close() {
        let answer = |request: MetricsRequest| {
            String::from_utf8(request.answer(|| String::from("text\n"))).unwrap()
        };
        assert_eq!(answer(MetricsRequest::Plain), "text\n");
        let get = answer(MetricsRequest::Get);
        assert!(get.starts_with("HTTP/1.1 200 OK\r\n"), "{get}");
        assert!(get.contains("\r\nContent-Length: 5\r\nConnection: close\r\n\r\ntext\n"), "{get}");
        let head = answer(MetricsRequest::Head);
        assert!(head.contains("\r\nContent-Length: 5\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        assert!(answer(MetricsRequest::NotFound).starts_with("HTTP/1.1 404 "));
    }
}
