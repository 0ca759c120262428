//! Asynchronous proxies, and objects that a task serves, in each runtime.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use diligence_client::NameFlags;
use diligence_client::asynchronous::{Connection, LocalRuntime, Runtime};
use diligence_client::wire::names::ObjectPath;

use crate::lamp::{AsyncLampProxy, LampError, LampProperties, NAME, PATH, TestLamp};
use crate::support::PrivateTestBus;

#[test]
fn tasks_of_the_local_runtime_call_and_serve() {
    let bus = PrivateTestBus::start();
    let runtime = LocalRuntime::new().unwrap();
    runtime.block_on(call_while_serving(&bus.address, &runtime));
}

#[cfg(feature = "tokio")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_of_tokio_call_and_serve() {
    let bus = PrivateTestBus::start();
    let address = bus.address.clone();
    let runtime = diligence_client::asynchronous::Tokio;
    // The futures of proxies can move to other threads.
    tokio::spawn(async move { call_while_serving(&address, &runtime).await }).await.unwrap();
}

async fn call_while_serving(address: &str, runtime: &(impl Runtime + Sync)) {
    let service = Connection::open(address, runtime).await.unwrap();
    let client = Connection::open(address, runtime).await.unwrap();
    let lamp = service.export(PATH, TestLamp::new()).unwrap();
    service.request_name(NAME, NameFlags::NONE).await.unwrap();
    beside(service.serve(), call(&client)).await;
    assert_eq!(lamp.state().brightness, 50);
    TestLamp::toggled(&lamp, true, "the end").unwrap();
}

/// Runs the second future, and polls the first, which does not end, meanwhile.
async fn beside<T>(serving: impl Future, calling: impl Future<Output = T>) -> T {
    let (mut serving, mut calling) = (pin!(serving), pin!(calling));
    poll_fn(|context| match calling.as_mut().poll(context) {
        Poll::Ready(found) => Poll::Ready(found),
        Poll::Pending => {
            assert!(serving.as_mut().poll(context).is_pending(), "the connection ended");
            // Serving may have sent what the other future waits for.
            calling.as_mut().poll(context)
        }
    })
    .await
}

async fn call(client: &Connection) {
    let lamp = AsyncLampProxy::new(client);
    let toggled = lamp.subscribe_toggled().await.unwrap();
    let changes = lamp.property_changes().await.unwrap();
    assert_eq!(lamp.toggle().await, Ok(true));
    let own = client.unique_name().to_string();
    assert_eq!(toggled.next().await, Ok((true, own)));
    assert_eq!(changes.next().await.unwrap().changed.uses, Some(1));
    assert_eq!(lamp.combine((1, 2), &["x"]).await, Ok((3, "x".into())));
    assert_eq!(lamp.nothing().await, Ok(()));
    let path = ObjectPath::literal("/a");
    assert_eq!(lamp.path_of(path).await.unwrap().as_path(), path);
    // Both calls are queued before the first reply.
    let (slow, fast) = (lamp.wait(40), lamp.wait(1));
    assert_eq!((fast.await, slow.await), (Ok(1), Ok(40)));
    lamp.forget("task").await.unwrap();
    assert_eq!(lamp.label().await.unwrap(), "task");
    lamp.set_label("tasks").await.unwrap();
    assert_eq!(changes.next().await.unwrap().invalidated, ["Label"]);
    let refused = lamp.set_brightness(101).await;
    assert_eq!(refused, Err(LampError::Invalid("101 is more than 100".into())));
    lamp.set_brightness(50).await.unwrap();
    let expected = LampProperties {
        brightness: Some(50),
        label: Some("tasks".into()),
        version: Some((1, "one".into())),
        is_on: Some(true),
        uses: Some(1),
    };
    assert_eq!(lamp.properties().await.unwrap(), expected);
    assert_eq!(changes.poll().unwrap().unwrap().changed.brightness, Some(50));
    assert_eq!(toggled.poll(), Ok(None));
    let nowhere = AsyncLampProxy::at(client, NAME, "/nowhere").unwrap();
    assert!(matches!(nowhere.toggle().await, Err(LampError::Call(_))));
}

/// A method that waits for another service, in a task of its own.
#[cfg(feature = "tokio")]
mod relay {
    use diligence_client::{CallError, DeferredReply, MethodError, interface, proxy};

    use super::*;
    use crate::services::AsyncMessageBusProxy;

    struct NameRelay {
        connection: Connection,
    }

    #[interface(name = "org.example.Relay")]
    impl NameRelay {
        fn owner_of(&self, name: String, reply: DeferredReply<(String,)>) {
            let connection = self.connection.clone();
            tokio::spawn(async move {
                let owner = AsyncMessageBusProxy::new(&connection).get_name_owner(&name).await;
                reply.send(owner.map(|owner| (owner,)).map_err(MethodError::from));
            });
        }
    }

    #[proxy(interface = "org.example.Relay", default_path = "/relay")]
    trait Relay {
        fn owner_of(&self, name: &str) -> Result<String, CallError>;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn methods_answer_from_tasks() {
        let bus = PrivateTestBus::start();
        let runtime = diligence_client::asynchronous::Tokio;
        let service = Connection::open(&bus.address, &runtime).await.unwrap();
        let client = Connection::open(&bus.address, &runtime).await.unwrap();
        service.export("/relay", NameRelay { connection: service.clone() }).unwrap();
        let serving = tokio::spawn({
            let service = service.clone();
            async move { service.serve().await }
        });
        let relay = AsyncRelayProxy::new(&client, service.unique_name()).unwrap();
        let own = client.unique_name().to_string();
        let calls: Vec<_> = (0..20).map(|_| relay.owner_of(&own)).collect();
        for call in calls {
            assert_eq!(call.await.as_ref(), Ok(&own));
        }
        let error = relay.owner_of("org.example.Nobody").await.unwrap_err();
        assert_eq!(error.remote_name(), Some("org.freedesktop.DBus.Error.NameHasNoOwner"));
        serving.abort();
    }
}
