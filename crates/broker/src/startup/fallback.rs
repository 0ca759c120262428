//! Returns to the program that was replaced, if this one cannot continue its bus.

use std::env;
use std::io;
use std::panic;
use std::sync::Arc;

use sys::inherited;
use sys::launch::LaunchedProgram;
use sys::reexec::DescriptorKeeper;

use super::passed_state::{PreviousProgram, environment_with_failure};

/// The program that was replaced, with all descriptors that it has passed on. Until this is dropped,
/// a panic returns to it, too.
pub(super) struct Fallback {
    shared: Arc<SharedFallback>,
}

struct SharedFallback {
    previous: PreviousProgram,
    keeper: DescriptorKeeper,
}

impl Fallback {
    /// Keeps the descriptors of this process. None of them may have been taken yet.
    ///
    /// # Errors
    ///
    /// Threads or memory run out.
    pub(super) fn prepare(previous: PreviousProgram) -> io::Result<Self> {
        let shared = Arc::new(SharedFallback { previous, keeper: DescriptorKeeper::start()? });
        // The copy of the keeper is enough.
        drop(inherited::take(previous.file.get()));
        let of_panic = Arc::clone(&shared);
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            print(panic);
            // Without success, the panic ends the program.
            let _ = of_panic.execute(&panic.to_string());
        }));
        Ok(Self { shared })
    }

    /// Executes the previous program, which continues with its state and reports this failure.
    /// Returns only if that is not possible.
    pub(super) fn execute(&self, failure: &str) -> io::Error {
        self.shared.execute(failure)
    }
}

impl SharedFallback {
    fn execute(&self, failure: &str) -> io::Error {
        let environment = environment_with_failure(self.previous, failure);
        match LaunchedProgram::new(env::args_os(), environment) {
            Ok(program) => self.keeper.execute(self.previous.file.get(), program),
            Err(error) => error,
        }
    }
}

impl Drop for Fallback {
    fn drop(&mut self) {
        // A panic that unwinds must not change the hook.
        if !std::thread::panicking() {
            drop(panic::take_hook());
        }
    }
}
