//! A service that writes into a file descriptor of its caller, and returns one.
//!
//! Shows both directions: `Tail` takes the write end of a pipe, and `Open` returns a file that the
//! caller may not be able to open itself. Without arguments the program is the service; with the
//! argument `read` it is the client.
//!
//! ```sh
//! cargo run -p diligence-client --example descriptors &
//! cargo run -p diligence-client --example descriptors read
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::time::Duration;

use diligence_client::wire::body::UnixFd;
use diligence_client::{
    CallOptions, Connection, IncomingCall, InterfaceError, MethodError, NameFlags, ServedInterface,
    Timeout,
};

fn main() -> Result<(), Box<dyn Error>> {
    let bus = Connection::session()?;
    match std::env::args().nth(1).as_deref() {
        None => serve(&bus),
        Some("read") => read(&bus),
        Some(_) => Err("usage: descriptors [read]".into()),
    }
}

fn serve(bus: &Connection) -> Result<(), Box<dyn Error>> {
    bus.add_object(PATH, &interface()?, ())?;
    if !bus.request_name(NAME, NameFlags::DO_NOT_QUEUE)?.is_owner() {
        return Err(format!("{NAME} is already owned; another instance may be running").into());
    }
    bus.serve();
    Ok(())
}

/// In a body, a descriptor is an index, of type `h`, into the descriptors attached to the message.
/// So these methods receive the whole message and reply to it themselves.
fn interface() -> Result<ServedInterface<()>, InterfaceError> {
    ServedInterface::<()>::builder(INTERFACE)
        .raw_method("Open", &[], &[("file", "h")], |(), request| {
            match File::open(LOG) {
                Ok(file) => reply(&request, vec![file.into()]),
                Err(error) => fail(&request, &error),
            };
        })
        .raw_method("Tail", &[("pipe", "h")], &[], |(), request| match write_tail(&request) {
            Ok(()) => drop(request.reply(&())),
            Err(error) => fail(&request, &error),
        })
        .build()
}

fn reply(request: &IncomingCall, descriptors: Vec<OwnedFd>) {
    // If the reply cannot be sent, the connection ended.
    let _ = request.reply_with_descriptors(&(UnixFd(0),), descriptors);
}

fn fail(request: &IncomingCall, error: &io::Error) {
    let _ = MethodError::failed(error.to_string()).send(request);
}

fn write_tail(request: &IncomingCall) -> io::Result<()> {
    let message = request.message();
    let (index,): (UnixFd,) = message.read().map_err(io::Error::other)?;
    // The index comes from the caller and may be out of range.
    let pipe = message.descriptor(index).ok_or(io::ErrorKind::InvalidInput)?;
    // The message owns its descriptors and closes them, so write through a duplicate.
    let mut pipe = File::from(pipe.try_clone()?);
    pipe.write_all(b"The last line of the log.\n")
}

fn read(bus: &Connection) -> Result<(), Box<dyn Error>> {
    let log = bus.proxy(NAME, PATH, INTERFACE)?;

    // Receive a descriptor.
    let reply = log.call("Open", &())?;
    let (index,): (UnixFd,) = reply.read()?;
    let file = reply.descriptor(index).ok_or("the reply has no descriptor")?;
    let mut text = String::new();
    File::from(file.try_clone()?).read_to_string(&mut text)?;
    println!("Open: {} bytes", text.len());

    // Send a descriptor. The library closes it after sending the message, so the pipe ends when the
    // service closes its copy.
    let (mut reader, writer) = io::pipe()?;
    let options = CallOptions {
        timeout: Timeout::After(Duration::from_secs(5)),
        descriptors: vec![writer.into()],
    };
    log.start_call("Tail", &(UnixFd(0),), options)?.wait()?;
    let mut tail = String::new();
    reader.read_to_string(&mut tail)?;
    print!("Tail: {tail}");
    Ok(())
}

const NAME: &str = "com.example.Log";
const PATH: &str = "/com/example/Log";
const INTERFACE: &str = "com.example.Log1";
const LOG: &str = "/etc/os-release";
