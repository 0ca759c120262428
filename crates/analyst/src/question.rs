//! What can be asked, and who answers.

use capture::Capture;
use capture::save::FileFormat;
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
    /// For a selection that means nothing: how many messages there are without each part of it.
    Without {
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
    /// Why the recording is incomplete, if it is.
    Ending,
    /// Who waited for whom, which calls took longest, how services came up.
    Timeline {
        /// Which calls count.
        #[serde(flatten)]
        selection: Selection,
    },
    /// Messages as a file: its bytes are a column.
    Save {
        /// In which format.
        format: FileFormat,
        /// Which messages; with each call its reply, and with each reply its call.
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

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The question is malformed or unknown.
    #[error("the question is not understood: {0}")]
    Question(serde_json::Error),
    /// The query is malformed.
    #[error(transparent)]
    Query(#[from] InvalidQuery),
    /// No table has this name.
    #[error("there is no table of \"{0}\"")]
    Subject(String),
    /// No message has this number.
    #[error("there is no message {}", u64::from(*.0) + 1)]
    NoMessage(u32),
    /// The recording lacks the facts for the answer.
    #[error(transparent)]
    Unknowable(Unknowable),
    /// Reading the recording failed.
    #[error("the recording cannot be read any more: {0}")]
    Io(#[from] std::io::Error),
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
            let (hidden, total) = selected.of_recorder(capture);
            let frame = Frame::new("answer")
                .with("count", count)
                .with("total", total)
                .with("recorder", hidden.sentence());
            let frame = match answers::note(capture, &selected, count) {
                Some(note) => frame.with("note", note),
                None => frame,
            };
            frame.with_column("selected", Column::U8(&bits))
        }
        Question::Without { selection } => json(answers::without(capture, selection)?),
        Question::Complete { query, cursor } => json(answers::complete(capture, query, *cursor)),
        Question::Message { id } => json(answers::message(capture, *id)?),
        Question::Summary { selection } => {
            json(answers::summary(capture, &selection.parse(capture)?))
        }
        Question::Statistics { subject, selection } => {
            json(answers::statistics(capture, subject, &selection.parse(capture)?)?)
        }
        Question::Ending => json(answers::ending(capture)),
        Question::Findings => json(answers::findings(capture)),
        Question::Timeline { selection } => {
            json(answers::timeline(capture, &selection.parse(capture)?))
        }
        Question::Save { format, selection } => answers::save(capture, selection, *format)?,
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
            Self::Query(InvalidQuery { column, is_unfinished, .. }) => {
                frame.with("column", column).with("unfinished", is_unfinished)
            }
            _ => frame,
        }
    }
}

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
                "No message matches: no message has the member getall (names are case-sensitive); GetAll",
            ),
            (
                "member:GetAll recipients>3",
                "note",
                "Recipients are unknown in this recording, so recipients matches nothing: who gets",
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

    /// The file that answers a question.
    fn file(capture: &Capture, question: &serde_json::Value) -> Vec<u8> {
        let bytes = answer(capture, question.to_string().as_bytes()).into_bytes();
        let json_len = u32::from_le_bytes(*bytes[4..].first_chunk().expect("a prefix")) as usize;
        let (head, data) = bytes[8..].split_at(json_len);
        let head: serde_json::Value = serde_json::from_slice(head).expect("JSON");
        assert_eq!(
            (&head["kind"], &head["columns"][0]["name"]),
            (&json!("answer"), &json!("file"))
        );
        data[..head["columns"][0]["length"].as_u64().expect("a number") as usize].to_vec()
    }

    #[test]
    fn messages_are_saved_whole_or_as_an_excerpt() {
        let mut recording = Recording::new();
        recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetAll", &());
        recording.wait_ms(5).signal(":1.6", "/ org.example.Mail.Changed", &());
        let capture = recording.capture();
        let mut whole = Vec::new();
        capture.write(&mut whole, capture::bodies::Bodies::Whole).expect("memory takes all");
        assert_eq!(file(&capture, &json!({"ask": "save", "format": "pcapng"})), whole);
        for (question, words) in [
            (json!({"ask": "save", "format": "pcapng", "query": "member:GetAll"}), "member:GetAll"),
            (json!({"ask": "save", "format": "pcapng", "until": 4e6}), "until 4.00 ms"),
        ] {
            let part = Capture::from_bytes(file(&capture, &question)).expect("a recording");
            assert_eq!(part.messages().next().expect("one").member(), "GetAll");
            let excerpts: Vec<_> = part.excerpts().map(|(_, it)| (&*it.query, it.of)).collect();
            assert_eq!((part.len(), excerpts), (1, vec![(words, 2)]));
        }
        let pcap =
            file(&capture, &json!({"ask": "save", "format": "pcap", "query": "type:signal"}));
        assert!(pcap.starts_with(&0xA1B2_3C4D_u32.to_le_bytes()));
        assert_eq!(Capture::from_bytes(pcap).expect("a recording").len(), 1);
    }

    /// The answer to a question, which is JSON.
    fn told(capture: &Capture, question: &serde_json::Value) -> serde_json::Value {
        let bytes = answer(capture, question.to_string().as_bytes()).into_bytes();
        let start = bytes.iter().position(|&byte| byte == b'{').expect("a head");
        let mut heads = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter();
        heads.next().expect("a head").expect("JSON")
    }

    #[test]
    fn an_empty_selection_names_the_parts_that_exclude_everything() {
        let mut recording = Recording::new();
        recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetAll", &());
        recording.wait_ms(5).signal(":1.6", "/ org.example.Mail.Changed", &());
        let capture = recording.capture();
        let peer = capture.messages().next().expect("one").from().expect("a sender").index();
        let question =
            json!({"ask": "without", "query": "member:GetAll", "hidden": [peer], "until": 1e6});
        let expected = json!({"query": 0, "hidden": 1, "time": 0});
        assert_eq!(told(&capture, &question)["answer"], expected);
        let question = json!({"ask": "without", "query": "type:signal", "until": 1e6});
        let expected = json!({"query": 1, "hidden": null, "time": 1});
        assert_eq!(told(&capture, &question)["answer"], expected);
    }

    #[test]
    fn messages_of_the_recorder_are_not_in_the_total_and_are_said_to_be_hidden() {
        let mut recording = Recording::new();
        recording.fact(capture::record::Fact::Recorder { unique: ":1.9".into() });
        recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetAll", &());
        recording.call(":1.9", "org.freedesktop.DBus", "/ org.freedesktop.DBus.GetId", &());
        let capture = recording.capture();
        let head = told(&capture, &json!({"ask": "select"}));
        assert_eq!((&head["count"], &head["total"]), (&json!(1), &json!(1)));
        let sentence = "1 message from or to the recorder is hidden; is:recorder shows it";
        assert_eq!(head["recorder"], json!(sentence));
        let head = told(&capture, &json!({"ask": "select", "query": "is:recorder"}));
        assert_eq!((&head["count"], &head["total"]), (&json!(1), &json!(2)));
        assert_eq!(head["recorder"], json!(null));
        let head = told(&capture, &json!({"ask": "select", "query": "member:"}));
        assert_eq!(head["unfinished"], json!(true));
    }
}
