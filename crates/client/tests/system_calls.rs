//! Checks with strace(1) that typed calls take as few system calls as calls without types: two for
//! the caller, and two for the service.
//!
//! This test has no harness: it runs itself as the program that strace watches.

mod support;

use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use diligence_client::{CallError, Connection, interface, proxy};
use support::{PrivateTestBus, TestDirectory};

struct TestDoubler;

#[interface(name = "org.example.Doubler")]
impl TestDoubler {
    fn double(&self, number: u32, unit: &str) -> Result<u32, CallError> {
        Ok(if unit == "pieces" { 2 * number } else { 0 })
    }
}

#[proxy(interface = "org.example.Doubler", default_path = "/doubler")]
trait Doubler {
    fn double(&self, number: u32, unit: &str) -> Result<u32, CallError>;
}

fn main() {
    match env::var("DILIGENCE_PART").as_deref() {
        Ok("typed") => call(|connection, name| {
            let doubler = DoublerProxy::new(connection, name).expect("a valid name");
            assert_eq!(doubler.double(4, "pieces"), Ok(8));
        }),
        Ok("untyped") => call(|connection, name| {
            let interface = DoublerProxy::INTERFACE;
            let proxy = connection.proxy(name, "/doubler", interface).expect("a valid name");
            let reply = proxy.call("Double", &(4_u32, "pieces")).expect("the service answers");
            assert_eq!(reply.read::<(u32,)>(), Ok((8,)));
        }),
        Ok("service") => {
            let connection = Connection::open(&argument(1)).expect("the bus runs");
            connection.export("/doubler", TestDoubler).expect("the path is free");
            println!("{}", connection.unique_name());
            connection.serve();
        }
        _ => check(),
    }
}

/// Calls as often as the last argument says.
fn call(call: impl Fn(&Connection, &str)) {
    let connection = Connection::open(&argument(1)).expect("the bus runs");
    let (name, count) = (argument(2), argument(3).parse().expect("a number"));
    (0_u32..count).for_each(|_| call(&connection, &name));
}

fn argument(place: usize) -> String {
    env::args().nth(place).expect("the test passes it")
}

fn check() {
    let directory = TestDirectory::new("system-calls");
    for caller in ["typed", "untyped"] {
        let [few, many] = [100, 1100].map(|count| Count::of(&directory, caller, count));
        for (side, few, many) in
            [("caller", few.caller, many.caller), ("service", few.service, many.service)]
        {
            // For 1000 calls. How many reads the handshake takes depends on the bus.
            let taken = many - few;
            assert!(taken.abs_diff(2000) <= 10, "{side} of {caller} calls: {taken} system calls");
            println!("{side} of 1000 {caller} calls: {taken} system calls");
        }
    }
}

/// The system calls of both programs.
struct Count {
    caller: u64,
    service: u64,
}

impl Count {
    fn of(directory: &TestDirectory, caller: &str, count: u32) -> Self {
        let mut bus = PrivateTestBus::start();
        let tables = ["caller", "service"].map(|name| directory.file(name));
        let mut service = watched("service", &tables[1], &[&bus.address]);
        let mut name = String::new();
        let output = service.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut name).expect("the service prints its name");
        let words = [&bus.address, name.trim(), &count.to_string()];
        let status = watched(caller, &tables[0], &words).wait().expect("a child process");
        assert!(status.success(), "{caller}: {status}");
        bus.kill();
        assert!(service.wait().expect("a child process").success());
        let [caller, service] = tables.map(|table| total(&table));
        Self { caller, service }
    }
}

/// Starts a part of this program in strace.
fn watched(part: &str, table: &str, words: &[&str]) -> Child {
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-o", table]).arg(env::current_exe().expect("a path"));
    command.args(words).env("DILIGENCE_PART", part).stdout(Stdio::piped());
    command.spawn().unwrap_or_else(|e| panic!("strace: {e}; the Debian package is strace"))
}

/// The number of calls in the last line of strace's table: `100.00 0.01 3 3006 total`.
fn total(table: &str) -> u64 {
    let table = std::fs::read_to_string(table).expect("strace wrote its table");
    let line = table.lines().find(|line| line.ends_with(" total")).expect("the last line");
    let number = line.split_whitespace().nth(3).expect("the column of the calls");
    number.parse().unwrap_or_else(|_| panic!("{table}"))
}
