//! Saves and restores the metrics socket.

use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{CLIENTS_MAX, Metrics, MetricsClient, MetricsExchange};
use crate::listen::SavedSocketFile;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// The metrics socket in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedMetrics {
    listener: FdIndex,
    file: SavedSocketFile,
    clients: Vec<Option<SavedClient>>,
}

/// A client of the metrics socket in a saved state.
#[derive(Debug, Serialize, Deserialize)]
struct SavedClient {
    socket: FdIndex,
    exchange: SavedExchange,
    due: Duration,
}

#[derive(Debug, Serialize, Deserialize)]
enum SavedExchange {
    Asking(ByteBuf),
    /// The rest of the response.
    Answering(ByteBuf),
}

/// A metrics socket whose file still belongs to the program that it was saved by.
#[derive(Debug)]
pub(crate) struct RestoredMetrics {
    listener: OwnedFd,
    file: SavedSocketFile,
    clients: [Option<MetricsClient>; CLIENTS_MAX],
}

impl Metrics {
    /// Saves the socket and its clients.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedMetrics {
        let listener = fds.add(&self.listener);
        let save = |client: &'f Option<MetricsClient>| {
            client.as_ref().map(|client| SavedClient {
                socket: fds.add(&client.socket),
                exchange: client.exchange.save(),
                due: client.due,
            })
        };
        let clients = self.clients.iter().map(save).collect();
        SavedMetrics { listener, file: SavedSocketFile::of(&self.file), clients }
    }
}

impl MetricsExchange {
    fn save(&self) -> SavedExchange {
        match self {
            Self::Asking { request } => SavedExchange::Asking(ByteBuf::from(&request[..])),
            Self::Answering { answer, sent } => {
                SavedExchange::Answering(ByteBuf::from(&answer[*sent..]))
            }
        }
    }

    fn restore(saved: SavedExchange) -> Self {
        match saved {
            SavedExchange::Asking(request) => Self::Asking { request: request.into_vec() },
            SavedExchange::Answering(answer) => {
                Self::Answering { answer: answer.into_vec(), sent: 0 }
            }
        }
    }
}

impl RestoredMetrics {
    /// Takes the sockets of a saved state.
    pub(crate) fn new(
        SavedMetrics { listener, file, clients }: SavedMetrics,
        fds: &mut RestoredFds,
    ) -> Result<Self, StateError> {
        let mut restored =
            Self { listener: fds.take(listener)?, file, clients: Default::default() };
        if clients.len() > CLIENTS_MAX {
            return Err(StateError::Inconsistent("there are too many clients of the metrics"));
        }
        for (place, saved) in restored.clients.iter_mut().zip(clients) {
            let Some(SavedClient { socket, exchange, due }) = saved else { continue };
            let exchange = MetricsExchange::restore(exchange);
            *place = Some(MetricsClient { socket: fds.take(socket)?, exchange, due });
        }
        Ok(restored)
    }

    /// The metrics socket, which now owns its file.
    pub(crate) fn adopt(self) -> Metrics {
        let Self { listener, file, clients } = self;
        Metrics { listener, file: file.adopt(), clients }
    }
}
