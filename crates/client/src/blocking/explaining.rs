//! Explaining errors of calls.

use unix::credentials::peer_ids;
use wire::body::Decode;

use super::call::{CallOptions, StartedCall, Timeout};
use super::connection::Connection;
use super::error::CallError;
use crate::driver;
use crate::explanation::{
    CalleeAnswers, EXPLANATION_TIME_MAX, ErrorExplanation, callee_on_bus, questions,
};

impl Connection {
    /// Explains an error of a call: who was called, and which process that is.
    ///
    /// This asks the bus and reads `/proc`, so call it only to report the error. It waits for the
    /// bus for at most half a second. If the bus is gone, it does not ask, and the explanation has
    /// only what the error has. The owner of the name may have changed since the call.
    ///
    /// ```no_run
    /// use diligence_client::Connection;
    ///
    /// let bus = Connection::session()?;
    /// let player = bus.proxy("org.example.Player", "/org/example/Player", "org.example.Player")?;
    /// if let Err(error) = player.call("Play", &("a song",)) {
    ///     // no reply from org.example.Player (:1.5, player.service, pid 123) to Play after 25 s
    ///     eprintln!("{}", bus.explain(&error));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self, error: &CallError) -> ErrorExplanation {
        let Some(calls) = self.start_questions(error) else {
            return ErrorExplanation::new(error, self.answers_of_socket());
        };
        let [owner, pid, own_pid] = calls;
        let answers = (answer(owner), answer(pid), answer(own_pid));
        ErrorExplanation::new(error, answers.into())
    }

    /// What the socket says about the program at the other end, if that is not a bus.
    pub(crate) fn answers_of_socket(&self) -> CalleeAnswers {
        let is_bus = self.name_on_bus().is_some();
        let ids = if is_bus { None } else { peer_ids(&self.link().socket).ok() };
        CalleeAnswers { pid: ids.and_then(|ids| ids.pid), ..CalleeAnswers::default() }
    }

    /// Queues the calls that tell about the callee of a failed call; `None` if nothing can be
    /// asked.
    pub(crate) fn start_questions(&self, error: &CallError) -> Option<[StartedQuestion; 3]> {
        let callee = callee_on_bus(error).filter(|_| self.is_connected())?;
        let own = self.unique_name();
        Some(questions(callee, own.as_str()).map(|(member, name)| {
            let timeout = Timeout::After(EXPLANATION_TIME_MAX);
            let options = CallOptions { timeout, ..CallOptions::default() };
            self.start_call(&driver::method(member), &(name,), options)
        }))
    }
}

/// A call that was queued, unless the connection ended.
pub(crate) type StartedQuestion = Result<StartedCall, CallError>;

fn answer<T: for<'a> Decode<'a>>(call: StartedQuestion) -> Result<T, CallError> {
    let reply = call?.wait()?;
    let (result,) = reply.read()?;
    Ok(result)
}
