//! The pipes that determine the lifetime of containers.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;

use bus::ContainerId;
use serde::{Deserialize, Serialize};
use sys::poll::Interest;

use super::loop_state::LoopState;
use super::source::EventSource;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// The read ends of pipes, each of which is closed by its creator when the container shall stop. A
/// pipe stays until its container is removed, also if the container has no socket any more.
#[derive(Debug, Default)]
pub(super) struct ContainerLifetimes(BTreeMap<ContainerId, OwnedFd>);

/// The pipes in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedLifetimes(BTreeMap<ContainerId, FdIndex>);

impl ContainerLifetimes {
    /// Adds the pipe of a new container.
    pub(super) fn add(
        &mut self,
        state: &LoopState,
        container: ContainerId,
        pipe: OwnedFd,
    ) -> io::Result<()> {
        watch(state, container, &pipe)?;
        self.0.insert(container, pipe);
        Ok(())
    }

    /// Closes the pipe of a container, if it has one.
    pub(super) fn remove(&mut self, state: &LoopState, container: ContainerId) {
        if let Some(pipe) = self.0.remove(&container) {
            // Closing a descriptor removes it, too, unless another process has a copy.
            let _ = state.poller.remove(pipe);
        }
    }

    /// Watches the pipes of a restored state.
    pub(super) fn watch_all(&self, state: &LoopState) -> io::Result<()> {
        self.0.iter().try_for_each(|(&container, pipe)| watch(state, container, pipe))
    }

    pub(super) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedLifetimes {
        let saved = self.0.iter().map(|(&container, pipe)| (container, fds.add(pipe)));
        SavedLifetimes(saved.collect())
    }

    pub(super) fn restore(
        SavedLifetimes(saved): SavedLifetimes,
        fds: &mut RestoredFds,
    ) -> Result<Self, StateError> {
        let pipes = saved.into_iter().map(|(container, pipe)| Ok((container, fds.take(pipe)?)));
        pipes.collect::<Result<_, _>>().map(Self)
    }
}

/// The descriptor that shall determine the lifetime of a container is not the read end of a pipe.
/// If the bus had the other end, the container would never end.
#[derive(Debug)]
pub(super) struct NotAReadEnd;

impl fmt::Display for NotAReadEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the descriptor of org.diligence.Lifetime is not the read end of a pipe")
    }
}

impl Error for NotAReadEnd {}

fn watch(state: &LoopState, container: ContainerId, pipe: &OwnedFd) -> io::Result<()> {
    state.poller.add(pipe, EventSource::Lifetime(container).token(), Interest::Hangup)
}
