//! The asynchronous front end: the same connection for the tasks of an async runtime.
//!
//! It has the names, meanings and errors of the blocking front end. Methods that wait are `async`,
//! or return a future. Those that take a timeout in the blocking front end take none here: drop the
//! future, for example because a timer was faster. Calls have the same deadlines. A connection
//! needs a [`Runtime`]: `Tokio` with the feature `tokio`, the small [`LocalRuntime`] without any
//! other crate, or an implementation for another one. It starts no thread and no task: one of the
//! tasks that wait reads for all others, and passes that on when it is finished or dropped.
//!
//! ```no_run
//! use diligence_client::asynchronous::{Connection, LocalRuntime};
//!
//! let runtime = LocalRuntime::new()?;
//! runtime.block_on(async {
//!     let bus = Connection::session(&runtime).await?;
//!     let player = bus.proxy("org.example.Player", "/org/example/Player", "org.example.Player")?;
//!     let (length,): (u32,) = player.call("Play", &("a song",)).await?.read()?;
//!     println!("{length}");
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Dropping a future that waits for a reply abandons the call. Objects are the same as in the
//! blocking front end. Their methods run in the task that [serves](Connection::serve), and should
//! not wait.

mod call;
mod connecting;
mod connection;
mod dialing;
mod explaining;
mod listening;
mod local;
mod proxy;
mod runtime;
mod subscription;
mod tasks;
#[cfg(feature = "tokio")]
mod tokio;
mod typed;
mod waiting;

pub use call::StartedCall;
pub use connection::Connection;
pub use listening::PeerListener;
pub use local::LocalRuntime;
pub use proxy::Proxy;
pub use runtime::{Reactor, Runtime};
pub use subscription::{StartedSubscription, Subscription};
pub use typed::SignalSubscription;

#[cfg(feature = "tokio")]
pub use self::tokio::Tokio;
