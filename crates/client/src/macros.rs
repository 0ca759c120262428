//! The macros, with documentation whose examples need this crate.

/// Makes proxies for an interface from a trait.
///
/// ```no_run
/// use std::time::Duration;
/// use diligence_client::wire::names::ObjectPathBuf;
/// use diligence_client::{CallError, Connection, proxy};
///
/// /// The power supplies of a computer.
/// #[proxy(
///     interface = "org.freedesktop.UPower",
///     default_service = "org.freedesktop.UPower",
///     default_path = "/org/freedesktop/UPower"
/// )]
/// trait UPower {
///     fn enumerate_devices(&self) -> Result<Vec<ObjectPathBuf>, CallError>;
///
///     #[property]
///     fn on_battery(&self) -> Result<bool, CallError>;
///
///     #[signal]
///     fn device_added(&self, device: ObjectPathBuf);
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bus = Connection::system()?;
/// let upower = UPowerProxy::new(&bus);
/// for device in upower.enumerate_devices()? {
///     println!("{device:?}");
/// }
/// let added = upower.subscribe_device_added()?;
/// if let Some((device,)) = added.next(Some(Duration::from_secs(10)))? {
///     println!("{device:?} was added");
/// }
/// # Ok(())
/// # }
/// ```
///
/// The attribute replaces the trait by these types:
///
/// | type | contents |
/// | --- | --- |
/// | `UPowerProxy` | the blocking proxy, around a [`Proxy`](crate::Proxy) |
/// | `AsyncUPowerProxy` | the same with futures, around an [`asynchronous::Proxy`](crate::asynchronous::Proxy) |
/// | `UPowerProperties` | the properties that can be read, each an `Option`; only if there are any. The types of the properties implement `Clone`, `Debug` and `PartialEq` |
///
/// # Arguments of the attribute
///
/// | argument | meaning |
/// | --- | --- |
/// | `interface = "..."` | the name of the interface; required |
/// | `default_service = "..."` | the bus name of the service |
/// | `default_path = "..."` | the path of the object |
/// | `crate = path` | the path of `diligence-client`; the default is `::diligence_client` |
///
/// `at` makes a proxy from the connection, a service and a path. With a default, there is also
/// `new`, which takes only the connection and what has no default. `of_peer` makes a proxy for the
/// other end of a connection without a bus, from the connection and a path. `proxy` returns the
/// proxy without types.
///
/// # Methods
///
/// A function without a role is a method. Its name on D-Bus is the name of the function in Pascal
/// case; `#[method(name = "...")]` sets another one. It returns a `Result` with any error that
/// implements `From<CallError>`, and owned results: one value, a tuple of several, or `()`. The
/// functions of the asynchronous proxy send the call at once, and return a future of the reply.
///
/// | option of `#[method(...)]` | effect |
/// | --- | --- |
/// | `name = "..."` | the name on D-Bus |
/// | `timeout = expression` | a [`Timeout`](crate::Timeout) or a `Duration` instead of the time limit of the connection |
/// | `no_reply` | asks for no reply, and returns when the call is queued |
/// | `no_auto_start` | does not start the service |
/// | `interactive` | lets the service ask the user for authorization |
///
/// An argument or result of the type `OwnedFd` is a file descriptor. For descriptors inside other
/// types, use [`UnixFd`](crate::wire::body::UnixFd), an index, and pass the descriptors as an
/// argument with the attribute `#[descriptors]`. A method that returns a
/// [`ReceivedMessage`](crate::ReceivedMessage) returns the whole reply, so its results can borrow.
///
/// ```
/// use std::os::fd::OwnedFd;
/// use diligence_client::wire::body::UnixFd;
/// use diligence_client::{CallError, ReceivedMessage, proxy};
///
/// #[proxy(interface = "org.example.Store", default_path = "/org/example/Store")]
/// trait Store {
///     fn open(&self, name: &str) -> Result<(OwnedFd, u64), CallError>;
///     fn add(
///         &self,
///         files: &[(&str, UnixFd)],
///         #[descriptors] descriptors: Vec<OwnedFd>,
///     ) -> Result<(), CallError>;
///     fn list(&self) -> Result<ReceivedMessage, CallError>;
/// }
///
/// fn print_names(store: &StoreProxy<'_>) -> Result<(), CallError> {
///     let reply = store.list()?;
///     let (names,): (Vec<&str>,) = reply.read()?;
///     println!("{names:?}");
///     Ok(())
/// }
/// ```
///
/// # Properties
///
/// A function with `#[property]` reads a property, or writes it if it has an argument. The name of
/// a setter starts with `set_`. The futures of the asynchronous proxy send when they are awaited.
/// Each call asks the service: the proxy has no cache. For one, read all properties and apply their
/// changes:
///
/// ```no_run
/// # use diligence_client::{CallError, Connection, proxy};
/// #[proxy(interface = "org.example.Mixer", default_service = "org.example.Mixer")]
/// trait Mixer {
///     #[property]
///     fn volume(&self) -> Result<f64, CallError>;
///     #[property]
///     fn set_volume(&self, volume: f64) -> Result<(), CallError>;
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bus = Connection::session()?;
/// let mixer = MixerProxy::new(&bus, "/org/example/Mixer")?;
/// let changes = mixer.property_changes()?;
/// let mut known = mixer.properties()?;
/// while let Some(change) = changes.next(None)? {
///     // An invalidated property becomes `None`.
///     known.apply(change);
///     println!("{:?}", known.volume);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Signals
///
/// A function with `#[signal]` becomes a function with the prefix `subscribe_`, which returns a
/// [`SignalSubscription`](crate::SignalSubscription) with a tuple of the arguments.
///
/// # Errors of the compiler
///
/// Malformed names, references in results and other mistakes are errors at their place:
///
/// ```compile_fail
/// # use diligence_client::{CallError, proxy};
/// #[proxy(interface = "not a name")]
/// trait Lamp {}
/// ```
///
/// ```compile_fail
/// # use diligence_client::{CallError, proxy};
/// #[proxy(interface = "org.example.Lamp")]
/// trait Lamp {
///     fn label(&self) -> Result<&str, CallError>;
/// }
/// ```
pub use derive::proxy;

/// Makes a served interface from an impl block.
///
/// ```no_run
/// use diligence_client::{Connection, IncomingCall, MethodError, interface};
///
/// struct Lamp {
///     brightness: u8,
/// }
///
/// #[interface(name = "org.example.Lamp")]
/// impl Lamp {
///     /// Makes the lamp darker, and returns whether it is still on.
///     #[method(results("is_on"))]
///     fn dim(&mut self, step: u8, call: &IncomingCall) -> Result<bool, MethodError> {
///         if step == 0 {
///             return Err(MethodError::invalid_args("the step is 0"));
///         }
///         self.brightness = self.brightness.saturating_sub(step);
///         Self::brightness_changed(call);
///         if self.brightness == 0 {
///             Self::went_out(call, step)?;
///         }
///         Ok(self.brightness > 0)
///     }
///
///     #[property]
///     fn brightness(&self) -> u8 {
///         self.brightness
///     }
///
///     #[property]
///     fn set_brightness(&mut self, brightness: u8) {
///         self.brightness = brightness;
///     }
///
///     #[signal]
///     fn went_out(last_step: u8);
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bus = Connection::session()?;
/// let lamp = bus.export("/org/example/Lamp", Lamp { brightness: 100 })?;
/// // Later, outside of a call:
/// lamp.state().brightness = 50;
/// Lamp::brightness_changed(&lamp);
/// # Ok(())
/// # }
/// ```
///
/// The attribute implements [`ServedObject`](crate::ServedObject), so that
/// [`Connection::export`](crate::Connection::export) and
/// [`asynchronous::Connection::export`](crate::asynchronous::Connection::export) serve the type.
/// Each function of the block is a member of the interface; other functions belong into another
/// block. The arguments of the attribute are `name = "..."`, and `crate = path` if
/// `diligence-client` has another path than `::diligence_client`.
///
/// # Methods
///
/// A function without a role is a method. Its name on D-Bus is the name of the function in Pascal
/// case. It takes `&self` or `&mut self`, and its arguments, which may borrow: `&str`,
/// `ObjectPath<'_>`. It returns its results, one value, a tuple of several, or nothing, or a
/// `Result` of them, whose error implements `Into<MethodError>`;
/// [`ErrorReply`](macro@crate::ErrorReply) implements that for an enum. `OwnedFd` and
/// `BorrowedFd<'_>` are file descriptors.
///
/// | option of `#[method(...)]` | effect |
/// | --- | --- |
/// | `name = "..."` | the name on D-Bus |
/// | `results("...", "...")` | the names of the results for introspection |
/// | `no_reply` | the annotation that callers need not wait for a reply |
///
/// A parameter of the type [`&IncomingCall`](crate::IncomingCall) is not an argument: it is the
/// call, with its sender. A parameter of the type [`DeferredReply<(u32,)>`](crate::DeferredReply)
/// is not an argument either: it is the reply, for methods that wait for something. The method
/// returns at once, and a thread or a task sends the reply later:
///
/// ```
/// use std::time::Duration;
/// use diligence_client::{DeferredReply, interface};
///
/// struct Timer;
///
/// #[interface(name = "org.example.Timer")]
/// impl Timer {
///     fn wait(&self, seconds: u32, reply: DeferredReply<()>) {
///         std::thread::spawn(move || {
///             std::thread::sleep(Duration::from_secs(seconds.into()));
///             reply.send(Ok(()));
///         });
///     }
/// }
/// ```
///
/// With tokio, `tokio::spawn(async move { ... })` does the same in a task, which can await the
/// calls of an asynchronous proxy.
///
/// # Properties
///
/// A function with `#[property]` and `&self` only is the getter of a property. A function with a
/// value is the setter; its name starts with `set_`. A setter may return a `Result`, and take the
/// [`&IncomingCall`](crate::IncomingCall). `#[property(emits_change = ...)]` at the getter sets how
/// changes are announced, as in the annotation `EmitsChangedSignal`:
///
/// | value | effect |
/// | --- | --- |
/// | `true` | the default: `PropertiesChanged` has the new value |
/// | `"invalidates"` | `PropertiesChanged` has the name of the property only |
/// | `"const"` | the property never changes |
/// | `false` | changes are not announced |
///
/// A write by a client is announced by itself. For other changes, call the generated function
/// `brightness_changed`, with the [`Object`](crate::Object), or with the call while a method runs;
/// see [`SignalEmitter`](crate::SignalEmitter).
///
/// # Signals
///
/// A function with `#[signal]`, without `self` and without a body, becomes a function that emits
/// the signal; its first argument is a [`SignalEmitter`](crate::SignalEmitter).
///
/// # Annotations
///
/// `#[deprecated]` becomes the annotation `org.freedesktop.DBus.Deprecated`.
/// `#[annotate("name", "value")]` adds any annotation to the member, or to the interface.
///
/// # Errors of the compiler
///
/// ```compile_fail
/// # struct Lamp;
/// #[diligence_client::interface(name = "org.example.Lamp")]
/// impl Lamp {
///     async fn wait(&self) {}
/// }
/// ```
pub use derive::interface;

/// Maps an enum of errors to error names on D-Bus, and back.
///
/// ```
/// use diligence_client::wire::names::MemberName;
/// use diligence_client::{CallError, CalledMethod, ErrorReply, MethodError, driver};
///
/// #[derive(Debug, PartialEq, thiserror::Error, ErrorReply)]
/// #[dbus(prefix = "org.example.Lamp.Error")]
/// enum LampError {
///     #[error("the lamp is broken")]
///     Broken,
///     #[error("{0}")]
///     #[dbus(rename = "org.freedesktop.DBus.Error.InvalidArgs")]
///     Invalid(String),
///     #[error(transparent)]
///     #[dbus(other)]
///     Call(CallError),
/// }
///
/// let reply = MethodError::from(LampError::Broken);
/// assert_eq!(reply.to_string(), "org.example.Lamp.Error.Broken: the lamp is broken");
/// let received = CallError::Remote {
///     name: "org.example.Lamp.Error.Broken".into(),
///     message: "the lamp is broken".into(),
///     method: CalledMethod::of(&driver::method(MemberName::literal("Light"))).into(),
/// };
/// assert_eq!(LampError::from(received), LampError::Broken);
/// ```
///
/// The enum becomes a [`MethodError`](crate::MethodError), for methods that it is an error of. The
/// text is what `Display` writes. The name is the prefix and the name of the variant, unless
/// `rename` sets another word, or a complete name.
///
/// If a variant has the attribute `#[dbus(other)]`, a [`CallError`](crate::CallError) becomes the
/// enum, for proxies. This variant takes all errors without a variant of their own. The other
/// variants then have no fields, or one `String`, which gets the text.
///
/// `#[dbus(crate = path)]` sets the path of `diligence-client`.
pub use derive::ErrorReply;
