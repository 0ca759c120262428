//! Typed proxies of real services: the bus, and the UPower of python-dbusmock.

use std::collections::BTreeMap;
use std::time::Duration;

use diligence_client::asynchronous::{self, LocalRuntime};
use diligence_client::wire::body::Value;
use diligence_client::wire::names::ObjectPathBuf;
use diligence_client::{CallError, NameFlags, RequestReply, proxy};

use crate::support::{PrivateTestBus, TestService};

const SHORTLY: Option<Duration> = Some(Duration::from_secs(20));

#[proxy(
    interface = "org.freedesktop.DBus",
    default_service = "org.freedesktop.DBus",
    default_path = "/org/freedesktop/DBus"
)]
pub(crate) trait MessageBus {
    fn get_name_owner(&self, name: &str) -> Result<String, CallError>;
    fn list_names(&self) -> Result<Vec<String>, CallError>;
    fn request_name(&self, name: &str, flags: u32) -> Result<RequestReply, CallError>;
    #[method(name = "GetConnectionUnixProcessID")]
    fn process_of(&self, name: &str) -> Result<u32, CallError>;
    fn get_connection_credentials(&self, name: &str) -> Result<BTreeMap<String, Value>, CallError>;
    #[property]
    fn features(&self) -> Result<Vec<String>, CallError>;
    #[property]
    fn interfaces(&self) -> Result<Vec<String>, CallError>;
    #[signal]
    fn name_owner_changed(&self, name: String, old_owner: String, new_owner: String);
}

#[test]
fn the_bus_has_a_typed_proxy() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let driver = MessageBusProxy::new(&connection);
    let own = connection.unique_name().to_string();
    let changes = driver.subscribe_name_owner_changed().unwrap();
    let reply = driver.request_name("org.example.A", NameFlags::NONE.bits()).unwrap();
    assert_eq!(reply, RequestReply::PrimaryOwner);
    let change = changes.next(SHORTLY).unwrap().unwrap();
    assert_eq!(change, ("org.example.A".into(), String::new(), own.clone()));
    assert_eq!(driver.get_name_owner("org.example.A").unwrap(), own);
    assert!(driver.list_names().unwrap().contains(&own));
    assert_eq!(driver.process_of(&own), Ok(std::process::id()));
    let credentials = driver.get_connection_credentials(&own).unwrap();
    assert_eq!(credentials["ProcessID"], Value::Uint32(std::process::id()));
    let interfaces = driver.interfaces().unwrap();
    let all = driver.properties().unwrap();
    assert_eq!(all.interfaces, Some(interfaces));
    assert_eq!(all.features, Some(driver.features().unwrap()));
    let error = driver.get_name_owner("org.example.Nobody").unwrap_err();
    assert_eq!(error.remote_name(), Some("org.freedesktop.DBus.Error.NameHasNoOwner"));
}

#[proxy(
    interface = "org.freedesktop.UPower",
    default_service = "org.freedesktop.UPower",
    default_path = "/org/freedesktop/UPower"
)]
trait UPower {
    fn enumerate_devices(&self) -> Result<Vec<ObjectPathBuf>, CallError>;
    fn get_critical_action(&self) -> Result<String, CallError>;
    #[property]
    fn on_battery(&self) -> Result<bool, CallError>;
    #[property]
    fn daemon_version(&self) -> Result<String, CallError>;
    #[signal]
    fn device_added(&self, device: ObjectPathBuf);
}

#[proxy(interface = "org.freedesktop.UPower.Device", default_service = "org.freedesktop.UPower")]
trait Device {
    #[property]
    fn percentage(&self) -> Result<f64, CallError>;
    #[property]
    fn time_to_empty(&self) -> Result<i64, CallError>;
    #[property]
    fn model(&self) -> Result<String, CallError>;
}

/// The interface of python-dbusmock.
#[proxy(interface = "org.freedesktop.DBus.Mock", default_path = "/org/freedesktop/UPower")]
trait Mock {
    #[method(timeout = Duration::from_secs(20))]
    fn add_discharging_battery(
        &self,
        name: &str,
        model: &str,
        percentage: f64,
        seconds: i64,
    ) -> Result<String, CallError>;
    fn update_properties(
        &self,
        interface: &str,
        properties: &BTreeMap<&str, Value>,
    ) -> Result<(), CallError>;
}

fn upower(bus: &PrivateTestBus) -> TestService {
    let mut mock = std::process::Command::new("/usr/bin/python3");
    mock.args(["-m", "dbusmock", "--template", "upower"]);
    let child = mock
        .env("DBUS_SYSTEM_BUS_ADDRESS", &bus.address)
        .spawn()
        .unwrap_or_else(|e| panic!("python3: {e}; the Debian package is python3-dbusmock"));
    let service = TestService::Program(child);
    let owned = bus.connect().wait_for_owner("org.freedesktop.UPower", SHORTLY);
    assert_eq!(owned, Ok(true), "the Debian package is python3-dbusmock");
    service
}

#[test]
fn upower_has_a_typed_proxy() {
    let bus = PrivateTestBus::start();
    let _mock = upower(&bus);
    let connection = bus.connect();
    let upower = UPowerProxy::new(&connection);
    let (added, changes) =
        (upower.subscribe_device_added().unwrap(), upower.property_changes().unwrap());
    assert!(upower.enumerate_devices().unwrap().is_empty());
    assert_eq!(upower.get_critical_action().unwrap(), "HybridSleep");
    let mut known = upower.properties().unwrap();
    assert_eq!((known.on_battery, known.daemon_version.as_deref()), (Some(false), Some("0.99")));

    let mock = MockProxy::new(&connection, "org.freedesktop.UPower").unwrap();
    let path = mock.add_discharging_battery("BAT0", "Accu", 30.0, 1200).unwrap();
    let (device,) = added.next(SHORTLY).unwrap().unwrap();
    assert_eq!(device.as_path(), path.as_str());
    assert_eq!(upower.enumerate_devices().unwrap(), std::slice::from_ref(&device));
    let device = DeviceProxy::new(&connection, &device).unwrap();
    let DeviceProperties { percentage, time_to_empty, model } = device.properties().unwrap();
    assert_eq!((percentage, time_to_empty, model), (Some(30.0), Some(1200), Some("Accu".into())));

    let changed = BTreeMap::from([("OnBattery", Value::from(true))]);
    mock.update_properties("org.freedesktop.UPower", &changed).unwrap();
    known.apply(changes.next(SHORTLY).unwrap().unwrap());
    assert_eq!((known.on_battery, upower.on_battery()), (Some(true), Ok(true)));
}

#[test]
fn upower_has_a_typed_asynchronous_proxy() {
    let bus = PrivateTestBus::start();
    let _mock = upower(&bus);
    let runtime = LocalRuntime::new().unwrap();
    runtime.block_on(async {
        let connection = asynchronous::Connection::open(&bus.address, &runtime).await.unwrap();
        let upower = AsyncUPowerProxy::new(&connection);
        let added = upower.subscribe_device_added().await.unwrap();
        let mock = AsyncMockProxy::new(&connection, "org.freedesktop.UPower").unwrap();
        let path = mock.add_discharging_battery("BAT1", "Accu", 80.0, 3600).await.unwrap();
        let (device,) = added.next().await.unwrap();
        assert_eq!(device.as_path(), path.as_str());
        let device = AsyncDeviceProxy::new(&connection, &device).unwrap();
        assert_eq!(device.percentage().await, Ok(80.0));
        assert_eq!(upower.properties().await.unwrap().on_battery, Some(false));
    });
}
