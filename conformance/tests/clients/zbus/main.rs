//! The stream with zbus: one task for each program, which handles all messages in their order.
//! `../stream.py` describes the two modes.

#![deny(warnings)]

use std::error::Error;
use std::io::{PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::ExitCode;
use std::{env, fs, io};

use futures_util::StreamExt as _;
use zbus::message::Type;
use zbus::{Connection, Fd, Message, MessageStream, connection};

type ClientResult<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    let outcome = match &words[..] {
        [mode, address] if mode == "serve" => zbus::block_on(serve(address)),
        [mode, address] if mode == "stream" => zbus::block_on(stream(address)),
        _ => Err("usage: zbus serve|stream ADDRESS".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The messages that the service has received.
#[derive(Default)]
struct ArrivedMessages {
    signals: u32,
    calls: u32,
}

async fn serve(address: &str) -> ClientResult<()> {
    let bus = connection::Builder::address(address).build().await?;
    let mut messages = MessageStream::from(&bus);
    let rule = format!("type='signal',interface='{INTERFACE}'");
    let driver = Some("org.freedesktop.DBus");
    bus.call_method(driver, "/org/freedesktop/DBus", driver, "AddMatch", &rule).await?;
    bus.request_name(NAME).await?;
    println!("ready");
    let mut received = ArrivedMessages::default();
    while let Some(message) = messages.next().await {
        let message = message?;
        let header = message.header();
        if header.interface().is_none_or(|interface| *interface != INTERFACE) {
            continue;
        }
        match (header.message_type(), header.member().map(|member| member.as_str())) {
            (Type::Signal, Some("Numbered")) => received.signal(&message)?,
            (Type::Signal, Some("Done")) => return received.end(&message),
            (Type::MethodCall, Some(member)) => {
                let number = received.call(&message, member == "EchoFile")?;
                bus.reply(&header, &number).await?;
            }
            other => return Err(format!("{other:?} arrived").into()),
        }
    }
    Err(format!("the bus closed the connection before signal {}", received.signals).into())
}

impl ArrivedMessages {
    fn signal(&mut self, message: &Message) -> ClientResult<()> {
        let number: u32 = message.body().deserialize()?;
        if number != self.signals {
            let expected = self.signals;
            return Err(format!("signal {number} arrived instead of signal {expected}").into());
        }
        self.signals += 1;
        Ok(())
    }

    /// Checks a call, and returns its number.
    fn call(&mut self, message: &Message, has_file: bool) -> ClientResult<u32> {
        let body = message.body();
        let (number, bytes, file): (u32, Vec<u8>, Option<zbus::OwnedFd>) = if has_file {
            let (number, bytes, file) = body.deserialize()?;
            (number, bytes, Some(file))
        } else {
            let (number, bytes) = body.deserialize()?;
            (number, bytes, None)
        };
        if number != self.calls {
            return Err(format!("call {number} arrived instead of call {}", self.calls).into());
        }
        self.calls += 1;
        if self.signals != self.calls {
            return Err(format!("call {number} arrived after {} signals", self.signals).into());
        }
        if bytes != body_of(number) {
            return Err(format!("call {number} has another body of {} bytes", bytes.len()).into());
        }
        if file.is_some() != number.is_multiple_of(DESCRIPTOR_EACH) {
            return Err(format!("call {number} has the descriptor {file:?}").into());
        }
        if let Some(file) = file {
            let mut content = String::new();
            fs::File::from(OwnedFd::from(file)).read_to_string(&mut content)?;
            if content != number.to_string() {
                let problem =
                    format!("call {number} has a descriptor with the content {content:?}");
                return Err(problem.into());
            }
        }
        Ok(number)
    }

    fn end(&self, message: &Message) -> ClientResult<()> {
        let count: u32 = message.body().deserialize()?;
        let Self { signals, calls } = *self;
        if (count, count) != (signals, calls) {
            let problem =
                format!("{signals} signals and {calls} calls arrived, but {count} were sent");
            return Err(problem.into());
        }
        println!("ok {count}");
        Ok(())
    }
}

async fn stream(address: &str) -> ClientResult<()> {
    let bus = connection::Builder::address(address).build().await?;
    // The end of the input, while messages are sent.
    let input = std::thread::spawn(|| io::copy(&mut io::stdin(), &mut io::sink()));
    let mut number = 0;
    while !input.is_finished() {
        emit(&bus, "Numbered", number).await?;
        let returned = call(&bus, number).await;
        let returned = returned.map_err(|error| format!("number {number}: {error}"))?;
        if returned != number {
            return Err(format!("call {number} returned {returned}").into());
        }
        number += 1;
    }
    emit(&bus, "Done", number).await
}

async fn emit(bus: &Connection, member: &str, number: u32) -> ClientResult<()> {
    Ok(bus.emit_signal(None::<&str>, PATH, INTERFACE, member, &number).await?)
}

/// Makes a call with this number, and returns the number in its reply.
async fn call(bus: &Connection, number: u32) -> ClientResult<u32> {
    let (to, interface, bytes) = (Some(NAME), Some(INTERFACE), body_of(number));
    let reply = if number.is_multiple_of(DESCRIPTOR_EACH) {
        let (reader, writer) = io::pipe()?;
        write_number(writer, number)?;
        let body = (number, &bytes[..], Fd::from(reader.as_fd()));
        bus.call_method(to, PATH, interface, "EchoFile", &body).await?
    } else {
        bus.call_method(to, PATH, interface, "Echo", &(number, &bytes[..])).await?
    };
    Ok(reply.body().deserialize()?)
}

fn write_number(mut writer: PipeWriter, number: u32) -> io::Result<()> {
    writer.write_all(number.to_string().as_bytes())
}

fn body_of(number: u32) -> Vec<u8> {
    let len = if number.is_multiple_of(LARGE_EACH) { LARGE_BODY } else { SMALL_BODY };
    vec![(number % 251) as u8; len]
}

const NAME: &str = "com.example.Stream";
const PATH: &str = "/com/example/Stream";
const INTERFACE: &str = "com.example.Stream1";

const SMALL_BODY: usize = 100;
const LARGE_BODY: usize = 300_000;
const LARGE_EACH: u32 = 20;
const DESCRIPTOR_EACH: u32 = 10;
