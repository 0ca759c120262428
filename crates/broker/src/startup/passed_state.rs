//! The environment variables with which a program passes the state of its bus to the program that
//! replaces it in the same process.

use std::env;
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStringExt as _;

use super::settings::DescriptorNumber;
use crate::saved_state::{
    FAILURE_VARIABLE, PREVIOUS_VARIABLE, STATE_VARIABLE, environment_without_state,
};

/// The state of a bus that another program has passed to this one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedState {
    /// The descriptor of the state.
    pub(super) state: DescriptorNumber,
    /// The program that passed the state, to continue the bus if this one cannot.
    pub(super) previous: Option<PreviousProgram>,
    /// The reason why the program that should have continued the bus could not. This program has
    /// passed its state to it.
    pub(super) failure: Option<String>,
}

/// A program that has passed its state on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PreviousProgram {
    /// The descriptor of its file.
    pub(super) file: DescriptorNumber,
    /// The descriptor of its state.
    pub(super) state: DescriptorNumber,
}

impl PassedState {
    /// Reads the variables of this process. Returns `None` if no state was passed.
    #[must_use]
    pub fn from_environment() -> Option<Self> {
        Self::read(|name| env::var_os(name))
    }

    fn read(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let number = |text: &str| DescriptorNumber::parse(text);
        let state = number(variable(STATE_VARIABLE)?.to_str()?)?;
        let previous = variable(PREVIOUS_VARIABLE).and_then(|text| {
            let (file, state) = text.to_str()?.split_once(',')?;
            Some(PreviousProgram { file: number(file)?, state: number(state)? })
        });
        let failure = variable(FAILURE_VARIABLE);
        let failure = failure.map(|text| String::from_utf8_lossy(&text.into_vec()).into_owned());
        Some(Self { state, previous, failure })
    }
}

/// The environment of this process with a state, and with the program that passes it.
pub(super) fn environment_with_state(
    state: RawFd,
    file: RawFd,
) -> impl Iterator<Item = (OsString, OsString)> {
    environment_without_state().chain([
        (STATE_VARIABLE.into(), state.to_string().into()),
        (PREVIOUS_VARIABLE.into(), format!("{file},{state}").into()),
    ])
}

/// The environment of this process for the program that continues with its own state, because of
/// this failure.
pub(super) fn environment_with_failure(
    previous: PreviousProgram,
    failure: &str,
) -> impl Iterator<Item = (OsString, OsString)> {
    let PreviousProgram { file, state } = previous;
    // A variable cannot contain zeros.
    let failure = failure.replace('\0', " ");
    environment_with_state(state.get(), file.get())
        .chain([(FAILURE_VARIABLE.into(), failure.into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Option<PassedState> {
        PassedState::read(|name| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| value.into())
        })
    }

    fn number(text: &str) -> DescriptorNumber {
        DescriptorNumber::parse(text).unwrap()
    }

    #[test]
    fn a_state_is_passed_with_its_program_and_a_failure() {
        let state = number("7");
        let alone = PassedState { state, previous: None, failure: None };
        assert_eq!(read(&[("DILIGENCE_STATE", "7")]), Some(alone.clone()));
        let previous = Some(PreviousProgram { file: number("8"), state });
        let variables = [("DILIGENCE_STATE", "7"), ("DILIGENCE_PREVIOUS", "8,7")];
        assert_eq!(read(&variables), Some(PassedState { previous, ..alone.clone() }));
        let variables = [("DILIGENCE_STATE", "7"), ("DILIGENCE_FAILURE", "no memory")];
        let failure = Some("no memory".to_owned());
        assert_eq!(read(&variables), Some(PassedState { failure, ..alone }));
    }

    #[test]
    fn invalid_numbers_pass_no_state() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[("DILIGENCE_STATE", "x")]), None);
        assert_eq!(read(&[("DILIGENCE_PREVIOUS", "8,7")]), None);
        let passed = read(&[("DILIGENCE_STATE", "7"), ("DILIGENCE_PREVIOUS", "8")]);
        assert_eq!(passed.unwrap().previous, None);
    }

    #[test]
    fn a_failure_contains_no_zeros() {
        let previous = PreviousProgram { file: number("8"), state: number("7") };
        let environment = environment_with_failure(previous, "a\0b");
        let failure = environment.into_iter().find(|(name, _)| name == FAILURE_VARIABLE);
        assert_eq!(failure.unwrap().1, "a b");
    }
}
