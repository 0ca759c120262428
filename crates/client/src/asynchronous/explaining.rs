//! Explaining errors of calls.

use wire::body::Decode;

use super::call::StartedCall;
use super::connection::Connection;
use crate::CallError;
use crate::blocking::StartedQuestion;
use crate::explanation::ErrorExplanation;

impl Connection {
    /// Explains an error of a call: who was called, and which process that is; see
    /// [`Connection::explain`](crate::Connection::explain).
    pub async fn explain(&self, error: &CallError) -> ErrorExplanation {
        let Some([owner, pid, own_pid]) = self.inner().start_questions(error) else {
            return ErrorExplanation::new(error, self.inner().answers_of_socket());
        };
        let owner = self.answer(owner).await;
        let pid = self.answer(pid).await;
        let answers = (owner, pid, self.answer(own_pid).await);
        ErrorExplanation::new(error, answers.into())
    }

    async fn answer<T: for<'a> Decode<'a>>(&self, call: StartedQuestion) -> Result<T, CallError> {
        let reply = StartedCall::new(self.clone(), call).await?;
        let (result,) = reply.read()?;
        Ok(result)
    }
}
