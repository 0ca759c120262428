//! What can be asked, and who answers.

use std::fmt;

use capture::Capture;
use capture::statistics::Unknowable;
use serde::{Deserialize, Serialize};

use crate::answers;
use crate::frame::{Column, Frame};
use crate::selection::{InvalidQuery, Selection, Stretch};

/// What can be asked of a recording. Messages are named by their place, from 0.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Question {
    /// Which messages are meant: a bit for each, the lowest first.
    Select {
        /// Those that are meant.
        #[serde(flatten)]
        selection: Selection,
    },
    /// What may be written at a place of a query.
    Complete {
        /// The query so far.
        query: String,
        /// The place, in bytes.
        cursor: usize,
    },
    /// All there is to know of a message.
    Message {
        /// Which one.
        id: u32,
    },
    /// The whole in a few numbers, and what to know before they are believed.
    Summary {
        /// Of which messages.
        #[serde(flatten)]
        selection: Selection,
    },
    /// A table of numbers.
    Statistics {
        /// Its name: see [`capture::statistics::Subject`].
        subject: String,
        /// Of which messages.
        #[serde(flatten)]
        selection: Selection,
    },
    /// What is wrong with how the programs talk.
    Findings,
    /// Who waited for whom, which calls took longest, how services came up.
    Timeline {
        /// Which calls count.
        #[serde(flatten)]
        selection: Selection,
    },
    /// When processes had a processor: columns of numbers.
    Switches {
        /// In which stretch of time.
        #[serde(flatten)]
        stretch: Stretch,
    },
    /// What is different between the recordings that were opened.
    Compare {
        /// The buses of the first one.
        before: Vec<u16>,
        /// The buses of the second one.
        after: Vec<u16>,
        /// Which messages count.
        #[serde(flatten)]
        selection: Selection,
    },
}

/// Why a question is not answered.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The question is none that is known.
    Question(serde_json::Error),
    /// The query is none.
    Query(InvalidQuery),
    /// There is no such table.
    Subject(String),
    /// There is no such message.
    NoMessage(u32),
    /// The recording does not have what the answer is made of.
    Unknowable(Unknowable),
    /// The recording cannot be read any more.
    Io(std::io::Error),
}

/// Answers a question, which is JSON. What cannot be answered is a frame too, of the kind `refusal`.
pub fn answer(capture: &Capture, question: &[u8]) -> Frame {
    let question = serde_json::from_slice(question).map_err(Refusal::Question);
    question.and_then(|question| tell(capture, &question)).unwrap_or_else(|refusal| refusal.frame())
}

fn tell(capture: &Capture, question: &Question) -> Result<Frame, Refusal> {
    let json = |value: serde_json::Value| Frame::new("answer").with("answer", value);
    Ok(match question {
        Question::Select { selection } => {
            let selected = selection.parse(capture)?;
            let (count, bits) = answers::select(capture, &selected);
            let frame = Frame::new("answer").with("count", count);
            let frame = match count == 0 && !selection.query.trim().is_empty() {
                true => frame.with("note", answers::no_match(capture, &selected)),
                false => frame,
            };
            frame.with_column("selected", Column::U8(&bits))
        }
        Question::Complete { query, cursor } => json(answers::complete(capture, query, *cursor)),
        Question::Message { id } => json(answers::message(capture, *id)?),
        Question::Summary { selection } => {
            json(answers::summary(capture, &selection.parse(capture)?))
        }
        Question::Statistics { subject, selection } => {
            json(answers::statistics(capture, subject, &selection.parse(capture)?)?)
        }
        Question::Findings => json(answers::findings(capture)),
        Question::Timeline { selection } => {
            json(answers::timeline(capture, &selection.parse(capture)?))
        }
        Question::Switches { stretch } => answers::switches(capture, stretch),
        Question::Compare { before, after, selection } => {
            json(answers::compare(capture, before, after, &selection.parse(capture)?))
        }
    })
}

impl Refusal {
    fn frame(&self) -> Frame {
        let frame = Frame::new("refusal").with("message", self.to_string());
        match self {
            Self::Query(InvalidQuery { column, .. }) => frame.with("column", column),
            _ => frame,
        }
    }
}

impl From<InvalidQuery> for Refusal {
    fn from(error: InvalidQuery) -> Self {
        Self::Query(error)
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Question(error) => write!(f, "the question is not understood: {error}"),
            Self::Query(error) => error.fmt(f),
            Self::Subject(name) => write!(f, "there is no table of \"{name}\""),
            Self::NoMessage(id) => write!(f, "there is no message {}", u64::from(*id) + 1),
            Self::Unknowable(error) => error.fmt(f),
            Self::Io(error) => write!(f, "the recording cannot be read any more: {error}"),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use diligence_testkit::recording::Recording;
    use serde_json::json;

    /// The head of the frame that answers a query.
    fn answered(query: &str) -> serde_json::Value {
        let mut recording = Recording::new();
        recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetAll", &());
        let question = json!({"ask": "select", "query": query}).to_string();
        let bytes = answer(&recording.capture(), question.as_bytes()).into_bytes();
        let (start, end) = (bytes.iter().position(|&byte| byte == b'{'), "a head that is JSON");
        let text = &bytes[start.expect("a head")..];
        serde_json::Deserializer::from_slice(text).into_iter().next().expect(end).expect(end)
    }

    #[test]
    fn queries_that_select_nothing_and_wrong_ones_are_explained_as_by_the_commands() {
        for (query, key, expected) in [
            (
                "member:getall",
                "note",
                "No message matches: no message has the member getall; GetAll",
            ),
            ("path=x", "message", "column 6: a path begins with /; did you mean path:/x"),
            ("dbus.member == Get", "message", "unknown field dbus.member; did you mean member?"),
        ] {
            let head = answered(query);
            let text = head[key].as_str().unwrap_or_default();
            assert!(text.contains(expected), "{query}: {head}");
        }
        assert_eq!(answered("member:GetAll").get("note"), None);
        assert_eq!(answered(" ").get("note"), None);
    }
}
