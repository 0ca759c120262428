//! The outputs to which a starting bus prints its address and its process id.

use std::fs::File;
use std::io::{self, Write};
use std::process;

use sys::inherited;

use super::StartError;
use super::settings::{DescriptorNumber, Settings};

/// The outputs that the command line asks for.
#[derive(Debug)]
pub(super) struct StartupOutputs {
    address: Option<Output>,
    pid: Option<Output>,
}

impl StartupOutputs {
    /// Takes ownership of the descriptors. Both numbers may be the same.
    pub(super) fn take(settings: &Settings) -> Result<Self, StartError> {
        let address = settings.print_address.map(Output::take).transpose()?;
        let pid = match (&address, settings.print_pid) {
            (Some(address), same) if same == settings.print_address => Some(address.duplicate()?),
            (_, number) => number.map(Output::take).transpose()?,
        };
        Ok(Self { address, pid })
    }

    /// Prints the addresses of all listeners, which are in one line.
    pub(super) fn print_address(&mut self, addresses: &str) -> Result<(), StartError> {
        let Some(output) = self.address.take() else { return Ok(()) };
        output.print_line(addresses)
    }

    /// Prints the process id of this process.
    pub(super) fn print_pid(self) -> Result<(), StartError> {
        self.pid.map_or(Ok(()), |output| output.print_line(&process::id().to_string()))
    }
}

/// A destination for one line.
#[derive(Debug)]
enum Output {
    /// Descriptor 0, which is `/dev/null` by now.
    Nowhere,
    Stdout,
    Stderr,
    /// A descriptor that the caller opened. The caller may wait for its end of file, so it is
    /// closed after the line.
    Inherited(File),
}

impl Output {
    fn take(number: DescriptorNumber) -> Result<Self, StartError> {
        Ok(match number.get() {
            0 => Self::Nowhere,
            1 => Self::Stdout,
            2 => Self::Stderr,
            other => Self::Inherited(inherited::take(other).map_err(StartError::PrintTo)?.into()),
        })
    }

    fn duplicate(&self) -> Result<Self, StartError> {
        Ok(match self {
            Self::Nowhere => Self::Nowhere,
            Self::Stdout => Self::Stdout,
            Self::Stderr => Self::Stderr,
            Self::Inherited(file) => Self::Inherited(file.try_clone().map_err(StartError::print)?),
        })
    }

    /// Prints a line, and closes the descriptor if this process owns it.
    fn print_line(self, line: &str) -> Result<(), StartError> {
        let line = format!("{line}\n");
        self.write(line.as_bytes()).map_err(StartError::print)
    }

    fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                stdout.flush()
            }
            Self::Stderr => io::stderr().write_all(bytes),
            Self::Inherited(mut file) => file.write_all(bytes),
        }
    }
}
