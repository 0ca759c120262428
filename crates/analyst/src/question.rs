//! The questions that the page can ask.

use capture::Capture;
use capture::save::FileFormat;
use capture::statistics::UnknownReason;
use serde::{Deserialize, Serialize};

use crate::answers::{self, AnswerBody};
use crate::frame::{FrameHead, PageFrame};
use crate::selection::{InvalidQuery, Selection, SelectionSpan};

/// A question about a recording. Messages are numbered by their rows, from 0.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Question"))]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum PageQuestion {
    /// Finds the selected messages.
    Select {
        /// The selection to apply.
        #[serde(flatten)]
        selection: Selection,
    },
    /// Counts the messages without each part of the selection.
    Without {
        /// The selection with all parts.
        #[serde(flatten)]
        selection: Selection,
    },
    /// Completes a query at the cursor.
    Complete {
        /// The text of the query.
        query: String,
        /// The cursor, as an offset in bytes.
        cursor: usize,
    },
    /// Everything about one message.
    Message {
        /// The row of the message.
        id: u32,
    },
    /// Totals, with notes about facts that limit their meaning.
    Summary {
        /// The messages that are counted.
        #[serde(flatten)]
        selection: Selection,
    },
    /// A table of statistics.
    Statistics {
        /// The name of the table: see [`capture::statistics::TableSubject`].
        subject: String,
        /// The messages that are counted.
        #[serde(flatten)]
        selection: Selection,
    },
    /// The findings of the linter.
    Findings,
    /// The reasons why the recording is incomplete.
    Ending,
    /// The callers that waited, the slowest calls, and the starts of services.
    Timeline {
        /// The calls that are counted.
        #[serde(flatten)]
        selection: Selection,
    },
    /// Messages as a file.
    Save {
        /// The format of the file.
        format: FileFormat,
        /// The messages to save. With each call its reply is saved, and with each reply its call.
        #[serde(flatten)]
        selection: Selection,
    },
    /// The times when processes ran.
    Switches {
        /// The time range of the answer.
        #[serde(flatten)]
        stretch: SelectionSpan,
    },
    /// Differences between two of the recordings that were opened.
    Compare {
        /// The buses of the first one.
        before: Vec<u16>,
        /// The buses of the second one.
        after: Vec<u16>,
        /// The messages that are compared.
        #[serde(flatten)]
        selection: Selection,
    },
}

/// The reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionRefusal {
    /// The question is malformed or unknown.
    #[error("the question is malformed or unknown: {0}")]
    Question(serde_json::Error),
    /// The query is malformed.
    #[error(transparent)]
    Query(#[from] InvalidQuery),
    /// No table has this name.
    #[error("there is no table named \"{0}\"")]
    Subject(String),
    /// No message has this number.
    #[error("there is no message {}", u64::from(*.0) + 1)]
    NoMessage(u32),
    /// The recording lacks the facts for the answer.
    #[error(transparent)]
    UnknownReason(UnknownReason),
    /// Reading the recording failed.
    #[error("the recording can no longer be read: {0}")]
    Io(#[from] std::io::Error),
}

/// Answers a question in JSON. A question that cannot be answered gets a frame of the kind
/// `refusal`.
pub fn answer(capture: &Capture, question: &[u8]) -> PageFrame {
    let question = serde_json::from_slice(question).map_err(QuestionRefusal::Question);
    question
        .and_then(|question| answer_frame(capture, &question))
        .unwrap_or_else(|refusal| refusal.frame())
}

fn answer_frame(capture: &Capture, question: &PageQuestion) -> Result<PageFrame, QuestionRefusal> {
    let parse = |selection: &Selection| selection.parse(capture);
    Ok(PageFrame::answer(match question {
        PageQuestion::Select { selection } => {
            return Ok(answers::select(capture, &parse(selection)?));
        }
        PageQuestion::Save { format, selection } => {
            return answers::save(capture, selection, *format);
        }
        PageQuestion::Switches { stretch } => return Ok(answers::switches(capture, stretch)),
        PageQuestion::Without { selection } => {
            AnswerBody::Without(answers::without(capture, selection)?)
        }
        PageQuestion::Complete { query, cursor } => {
            AnswerBody::Complete(answers::complete(capture, query, *cursor))
        }
        PageQuestion::Message { id } => {
            AnswerBody::Message(Box::new(answers::message(capture, *id)?))
        }
        PageQuestion::Summary { selection } => {
            AnswerBody::Summary(Box::new(answers::summary(capture, &parse(selection)?)))
        }
        PageQuestion::Statistics { subject, selection } => {
            AnswerBody::Statistics(answers::statistics(capture, subject, &parse(selection)?)?)
        }
        PageQuestion::Ending => AnswerBody::Ending(answers::ending(capture)),
        PageQuestion::Findings => AnswerBody::Findings(answers::findings(capture)),
        PageQuestion::Timeline { selection } => {
            AnswerBody::Timeline(Box::new(answers::timeline(capture, &parse(selection)?)))
        }
        PageQuestion::Compare { before, after, selection } => {
            AnswerBody::Compare(answers::compare(capture, before, after, &parse(selection)?))
        }
    }))
}

impl QuestionRefusal {
    fn frame(&self) -> PageFrame {
        let (column, unfinished) = match self {
            Self::Query(InvalidQuery { column, is_unfinished, .. }) => {
                (Some(*column), *is_unfinished)
            }
            _ => (None, false),
        };
        PageFrame::new(&FrameHead::Refusal { message: self.to_string(), column, unfinished })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use testkit::recording::TestRecording;

    /// The answer to a question, without its name; or the head of a refusal.
    fn answered(capture: &Capture, question: &serde_json::Value) -> serde_json::Value {
        let bytes = answer(capture, question.to_string().as_bytes()).into_bytes();
        let start = bytes.iter().position(|&byte| byte == b'{').expect("a head");
        let mut heads = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter();
        let head: serde_json::Value = heads.next().expect("a head").expect("JSON");
        let name = question["ask"].as_str().expect("a name");
        head.get("answer").map_or(head.clone(), |answer| answer[name].clone())
    }

    fn selected(query: &str) -> serde_json::Value {
        let mut recording = TestRecording::new();
        recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetAll", &());
        answered(&recording.capture(), &json!({"ask": "select", "query": query}))
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
                "Recipients are unknown in this recording, so recipients matches nothing: the bus did not record",
            ),
            ("path=x", "message", "column 6: a path begins with /; did you mean path:/x"),
            ("dbus.member == Get", "message", "unknown field dbus.member; did you mean member?"),
        ] {
            let head = selected(query);
            let text = head[key].as_str().unwrap_or_default();
            assert!(text.contains(expected), "{query}: {head}");
        }
        assert_eq!(selected("member:GetAll")["note"], json!(null));
        assert_eq!(selected(" ")["note"], json!(null));
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
        let mut recording = TestRecording::new();
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

    #[test]
    fn an_empty_selection_names_the_parts_that_exclude_everything() {
        let mut recording = TestRecording::new();
        recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetAll", &());
        recording.wait_ms(5).signal(":1.6", "/ org.example.Mail.Changed", &());
        let capture = recording.capture();
        let peer = capture.messages().next().expect("one").from().expect("a sender").index();
        let question =
            json!({"ask": "without", "query": "member:GetAll", "hidden": [peer], "until": 1e6});
        let expected = json!({"query": 0, "hidden": 1, "time": 0});
        assert_eq!(answered(&capture, &question), expected);
        let question = json!({"ask": "without", "query": "type:signal", "until": 1e6});
        let expected = json!({"query": 1, "hidden": null, "time": 1});
        assert_eq!(answered(&capture, &question), expected);
    }

    #[test]
    fn messages_of_the_recorder_are_not_in_the_total_and_a_note_says_that_they_are_hidden() {
        let mut recording = TestRecording::new();
        recording.fact(capture::record::Fact::Recorder { unique: ":1.9".into() });
        recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetAll", &());
        recording.call(":1.9", "org.freedesktop.DBus", "/ org.freedesktop.DBus.GetId", &());
        let capture = recording.capture();
        let head = answered(&capture, &json!({"ask": "select"}));
        assert_eq!((&head["count"], &head["total"]), (&json!(1), &json!(1)));
        let sentence = "1 message from or to the recorder is hidden; is:recorder shows it";
        assert_eq!(head["recorder"], json!(sentence));
        let head = answered(&capture, &json!({"ask": "select", "query": "is:recorder"}));
        assert_eq!((&head["count"], &head["total"]), (&json!(1), &json!(2)));
        assert_eq!(head["recorder"], json!(null));
        let head = answered(&capture, &json!({"ask": "select", "query": "member:"}));
        assert_eq!(head["unfinished"], json!(true));
    }
}
