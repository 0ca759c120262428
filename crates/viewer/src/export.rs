//! Export of a page and its recording as a self-contained HTML file.
//!
//! The file has four parts: the page, the analyst (the code that answers the page's questions,
//! compiled to WebAssembly), the recording, and a description of it. All parts except the page are
//! encoded as Base64, so that no content of a message can become markup. The
//! Content-Security-Policy of the file forbids it to load anything or to connect to any server.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::thread;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use capture::Capture;
use capture::bodies::Bodies;
use serde::Serialize;

use crate::assets;
use crate::gzip::GzipWriter;
use crate::session::Token;

/// Writes a capture and the page that shows it as an HTML file with this `title`.
///
/// # Errors
///
/// If the program was built without the page or its analysis, if the recording can no longer be
/// read, or if `out` cannot be written.
pub fn export(
    capture: &Capture,
    title: &str,
    bodies: Bodies,
    out: impl Write,
) -> Result<(), PageExportError> {
    let part = |path| assets::bytes(path).ok_or(PageExportError::NotBuilt);
    let (script, style, analyst) = (part("page.js")?, part("page.css")?, part("analyst.wasm")?);
    let mut out = BufWriter::new(out);
    let nonce = Token::random()?;
    let nonce = nonce.as_str();
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'nonce-{nonce}'; img-src data:; \
         worker-src blob:\">\n<title>Diligence</title>\n<style nonce=\"{nonce}\">"
    )?;
    out.write_all(style)?;
    out.write_all(b"</style>\n</head>\n<body>\n<div id=\"page\"></div>\n")?;
    let about = About { title, redacted: bodies == Bodies::Redacted };
    data(&mut out, "about", |out| Ok(out.write_all(about.to_json().as_bytes())?))?;
    data(&mut out, "analyst", |out| Ok(out.write_all(analyst)?))?;
    data(&mut out, "recording", |out| Ok(capture.write(out, bodies)?))?;
    write!(out, "<script type=\"module\" nonce=\"{nonce}\">")?;
    out.write_all(&as_inline_script(script))?;
    out.write_all(b"</script>\n</body>\n</html>\n")?;
    Ok(out.flush()?)
}

/// Information for the page about the recording in it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct About<'a> {
    /// The title of the page.
    title: &'a str,
    /// True if the contents of messages were removed.
    redacted: bool,
}

impl About<'_> {
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a text and a boolean can be written")
    }
}

/// Writes an element whose content is compressed and encoded as Base64.
fn data(
    out: &mut impl Write,
    id: &str,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), PageExportError>,
) -> Result<(), PageExportError> {
    write!(out, "<script type=\"application/octet-stream\" id=\"{id}\">")?;
    {
        let mut text = EncoderWriter::new(&mut *out, &STANDARD);
        thread::scope(|scope| {
            let mut packed = GzipWriter::new(scope, &mut text)?;
            fill(&mut packed)?;
            packed.finish().map(drop).map_err(PageExportError::from)
        })?;
        text.finish()?;
    }
    Ok(out.write_all(b"</script>\n")?)
}

/// Escapes the sequences that would end the `script` element or begin a comment in it. A minified
/// script has these sequences only in strings and regular expressions, where the backslash has no
/// effect.
fn as_inline_script(script: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(script);
    text.replace("</script", "<\\/script").replace("<!--", "<\\!--").into_bytes()
}

/// The reason why an export failed.
#[derive(Debug)]
pub enum PageExportError {
    /// The program was built without the page, or without the analysis in saved pages.
    NotBuilt,
    /// The recording cannot be read, or the file cannot be written.
    Io(io::Error),
}

impl From<io::Error> for PageExportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for PageExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuilt => f.write_str(
                "this program cannot save pages: build it with `make build`, which needs Node 20 or later",
            ),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PageExportError {}
