//! The workload through zbus, driven by its own runtime on the main thread.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, error, process, thread};

use futures_util::StreamExt;
use zbus::object_server::SignalEmitter;
use zbus::{Connection, connection, interface, proxy};

type Failure = Box<dyn error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", failure.to_string().replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["serve", address] => zbus::block_on(serve(address)),
        ["call", address, destination, count, length] => {
            let text = "x".repeat(number(length, 0, BYTES_MAX)?);
            zbus::block_on(call(address, destination, number(count, 1, COUNT_MAX)?, &text))
        }
        ["emit", address, count, size] => {
            let payload = vec![b'x'; number(size, 0, BYTES_MAX)?];
            zbus::block_on(emit(address, number(count, 1, COUNT_MAX)?, &payload))
        }
        ["listen", address, sender, count] => {
            zbus::block_on(listen(address, sender, number(count, 1, COUNT_MAX)?))
        }
        _ => Err("usage: serve ADDRESS | call ADDRESS DESTINATION COUNT LENGTH \
                  | emit ADDRESS COUNT SIZE | listen ADDRESS SENDER COUNT"
            .into()),
    }
}

/// The object that the program serves.
struct BenchObject;

#[interface(name = "org.diligence.Bench1")]
impl BenchObject {
    fn echo(&self, text: String) -> String {
        text
    }

    #[zbus(signal)]
    async fn sample(emitter: &SignalEmitter<'_>, sent_ns: u64, payload: &[u8]) -> zbus::Result<()>;
}

#[proxy(interface = "org.diligence.Bench1", default_path = "/org/diligence/Bench")]
trait Bench {
    async fn echo(&self, text: &str) -> zbus::Result<String>;

    #[zbus(signal)]
    async fn sample(&self, sent_ns: u64, payload: &[u8]) -> zbus::Result<()>;
}

async fn serve(address: &str) -> Result<(), Failure> {
    let builder = connection::Builder::address(address).serve_at(PATH, BenchObject);
    let connection = builder.build().await?;
    print_line(unique_name(&connection)?)?;
    connection.closed().await;
    Err("the bus closed the connection".into())
}

async fn call(address: &str, destination: &str, count: usize, text: &str) -> Result<(), Failure> {
    let connection = connect(address).await?;
    let proxy = BenchProxy::new(&connection, destination).await?;
    for _ in 0..(count / 10).clamp(1, WARM_UP_CALLS_MAX) {
        check(&proxy.echo(text).await?, text)?;
    }

    print_line("ready")?;
    while read_line()? {
        call_turn(&proxy, count, text).await?;
    }
    Ok(())
}

/// Calls `count` times, and reports.
async fn call_turn(proxy: &BenchProxy<'_>, count: usize, text: &str) -> Result<(), Failure> {
    let mut durations = Vec::with_capacity(count);
    let begin = Instant::now();
    let mut before = begin;
    for _ in 0..count {
        check(&proxy.echo(text).await?, text)?;
        let after = Instant::now();
        durations.push((after - before).as_nanos());
        before = after;
    }
    let elapsed = (before - begin).as_nanos();
    durations.sort_unstable();
    let (p50, p99) = (percentile(&durations, 50), percentile(&durations, 99));
    print_line(&format!(
        r#"{{"calls":{count},"elapsed_ns":{elapsed},"p50_ns":{p50},"p99_ns":{p99}}}"#
    ))
}

async fn emit(address: &str, count: usize, payload: &[u8]) -> Result<(), Failure> {
    let connection = connect(address).await?;
    let emitter = SignalEmitter::new(&connection, PATH)?;
    print_line(unique_name(&connection)?)?;
    if !read_line()? {
        return Err("standard input ended before the line that starts the measurement".into());
    }
    let begin = Instant::now();
    for _ in 0..count {
        // Waits while the socket is full, so no signal is queued or refused.
        emitter.sample(now_ns(), payload).await?;
    }
    let elapsed = begin.elapsed().as_nanos();
    print_line(&format!(r#"{{"sent":{count},"timeouts":0,"elapsed_ns":{elapsed}}}"#))?;
    wait_for_end();
    Ok(())
}

async fn listen(address: &str, sender: &str, expected: usize) -> Result<(), Failure> {
    let connection = connect(address).await?;
    let proxy = BenchProxy::new(&connection, sender).await?;
    let mut signals = proxy.receive_sample().await?;
    print_line("ready")?;
    let received = Arc::new(Mutex::new(Received::default()));
    end_in_silence(&received);
    while lock(&received).delays.len() < expected {
        let signal = signals.next().await.ok_or("the bus closed the connection")?;
        let sample = signal.args()?;
        lock(&received).take(sample.sent_ns, sample.payload.len());
    }
    lock(&received).report()
}

/// The signals that a listener received.
#[derive(Default)]
struct Received {
    delays: Vec<u64>,
    first_sent_ns: u64,
    last_received_ns: u64,
    bytes: usize,
}

impl Received {
    fn take(&mut self, sent_ns: u64, size: usize) {
        let now = now_ns();
        if self.delays.is_empty() {
            self.first_sent_ns = sent_ns;
        }
        self.delays.push(now - sent_ns);
        self.last_received_ns = now;
        self.bytes += size;
    }

    fn report(&mut self) -> Result<(), Failure> {
        let (received, bytes) = (self.delays.len(), self.bytes);
        let elapsed = self.last_received_ns - self.first_sent_ns;
        self.delays.sort_unstable();
        let mean = self.delays.iter().sum::<u64>().checked_div(received as u64).unwrap_or(0);
        let p99 = percentile(&self.delays, 99);
        print_line(&format!(
            r#"{{"received":{received},"elapsed_ns":{elapsed},"delay_mean_ns":{mean},"delay_p99_ns":{p99},"bytes":{bytes}}}"#
        ))
    }
}

/// Detects the end of the signals in a separate thread, because zbus has no timer.
fn end_in_silence(received: &Arc<Mutex<Received>>) {
    let received = received.clone();
    let started_ns = now_ns();
    thread::spawn(move || {
        loop {
            thread::sleep(LOOK_EACH);
            // Locks before it reads the clock, so that no signal is received after the time read.
            let mut received = lock(&received);
            let now = now_ns();
            let silent = match received.delays.is_empty() {
                true => now - started_ns > FIRST_SIGNAL_NS,
                false => now - received.last_received_ns > SILENCE_NS,
            };
            if silent {
                process::exit(i32::from(received.report().is_err()));
            }
        }
    });
}

fn lock(received: &Mutex<Received>) -> impl std::ops::DerefMut<Target = Received> {
    received.lock().expect("nobody panics while it is locked")
}

async fn connect(address: &str) -> Result<Connection, Failure> {
    Ok(connection::Builder::address(address).build().await?)
}

fn unique_name(connection: &Connection) -> Result<&str, Failure> {
    Ok(connection.unique_name().ok_or("the bus does not give a name")?.as_str())
}

fn check(back: &str, text: &str) -> Result<(), Failure> {
    if back == text { Ok(()) } else { Err("the reply carries a different text than the call".into()) }
}

/// Returns a percentile of values in ascending order.
fn percentile<T: Copy + Default>(ascending: &[T], percent: usize) -> T {
    let rank = (ascending.len() * percent).div_ceil(100);
    ascending.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

fn print_line(line: &str) -> Result<(), Failure> {
    let mut output = io::stdout();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

/// Waits for a line. Returns false at the end of the input.
fn read_line() -> io::Result<bool> {
    Ok(io::stdin().read_line(&mut String::new())? > 0)
}

fn wait_for_end() {
    let mut input = io::stdin().lock();
    while input.read(&mut [0; 256]).is_ok_and(|count| count > 0) {}
}

/// The time of CLOCK_MONOTONIC, in nanoseconds.
fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn number(text: &str, min: usize, max: usize) -> Result<usize, Failure> {
    let number = text.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("expected a number from {min} to {max}, found {text}").into())
}

const PATH: &str = "/org/diligence/Bench";
const WARM_UP_CALLS_MAX: usize = 100;
const SILENCE_NS: u64 = 2_000_000_000;
const FIRST_SIGNAL_NS: u64 = 25_000_000_000;
/// The interval between checks for silence.
const LOOK_EACH: Duration = Duration::from_millis(100);
const COUNT_MAX: usize = 100_000_000;
/// The maximum length of a D-Bus array, in bytes.
const BYTES_MAX: usize = 64 * 1024 * 1024;
