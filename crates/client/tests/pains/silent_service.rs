//! A service that answers a call only when a test tells it to.

use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::{Connection, IncomingCall, NameFlags};

use crate::support::{PATIENCE, PrivateTestBus};

/// A connection with the name [`NAME`] that reads calls, and leaves the answers to the test.
pub(crate) struct SilentService {
    pub(crate) connection: Connection,
}

impl SilentService {
    pub(crate) fn start(bus: &PrivateTestBus) -> Self {
        let connection = bus.connect();
        // From now on, calls are queued instead of refused.
        assert!(connection.next_request(Some(std::time::Duration::ZERO)).unwrap().is_none());
        connection.request_name(NAME, NameFlags::NONE).unwrap();
        Self { connection }
    }

    /// The next call that arrived, with its argument.
    pub(crate) fn next_call(&self) -> (IncomingCall, u32) {
        let call = self.connection.next_request(Some(PATIENCE)).unwrap().expect("a call");
        let (number,) = call.read().unwrap();
        (call, number)
    }

    /// Answers a call with a number.
    pub(crate) fn answer(&self, call: &IncomingCall, number: u32) {
        call.reply(&(number,)).unwrap();
        self.connection.flush().unwrap();
    }
}

/// The header of a call of the service.
pub(crate) fn wait_method() -> Builder<'static> {
    Builder::method_call(ObjectPath::literal("/silent"), MemberName::literal("Wait"))
        .interface(InterfaceName::literal(NAME))
        .destination(BusName::new(NAME).unwrap())
}

pub(crate) const NAME: &str = "org.example.Silent";
