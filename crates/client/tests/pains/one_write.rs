//! Signals of an object are missed if its path comes from a reply, and the subscription only
//! follows. Here, a subscription and a call leave in one write.

use std::fs;
use std::io::Write;
use std::process::Command;

use diligence_client::asynchronous::{self, LocalRuntime, Runtime};
use diligence_client::wire::names::ObjectPath;
use diligence_client::{Connection, IncomingCall, NameFlags, ServedInterface};

use crate::support::{BusProgram, PrivateTestBus, TestDirectory, TestService, successful};

const NAME: &str = "org.example.Printer";
const PATH: &str = "/org/example/Printer";
const JOB: &str = "org.example.Job";

mod tests {
    crate::pains! {
        blocking: a_signal_right_after_the_reply_is_not_missed;
        asynchronous: a_signal_right_after_the_reply_is_not_missed_in_a_task;
    }
}

/// Serves a method that returns the path of a new object, which at once emits a signal.
fn serve(bus: &PrivateTestBus) -> TestService {
    let print = |count: &mut u32, call: IncomingCall| {
        *count += 1;
        let path = format!("{PATH}/job{count}");
        let path = ObjectPath::new(&path).expect("a valid path");
        call.reply(&(path,)).expect("the bus runs");
        call.connection().emit(path, JOB, "Finished", &()).expect("the bus runs");
    };
    let interface = ServedInterface::<u32>::builder(NAME)
        .raw_method("Print", &[], &[("job", "o")], print)
        .build()
        .expect("a valid interface");
    bus.serve(move |connection| {
        connection.add_object(PATH, &interface, 0).expect("a new object");
        connection.request_name(NAME, NameFlags::NONE).expect("a free name");
    })
}

fn rule() -> String {
    format!("type='signal',sender='{NAME}',interface='{JOB}',member='Finished'")
}

fn a_signal_right_after_the_reply_is_not_missed(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let _printer = serve(&bus);
    for _ in 0..JOBS {
        let connection = bus.connect();
        let finished = connection.start_subscription(rule().as_str()).unwrap();
        let reply = connection.call(NAME, PATH, NAME, "Print", &()).unwrap();
        let (job,): (ObjectPath<'_>,) = reply.read().unwrap();
        let finished = finished.wait().unwrap();
        let signal = finished.next(Some(crate::support::PATIENCE)).unwrap().expect("the signal");
        assert_eq!(signal.path(), Some(job.as_str()));
    }
}

async fn a_signal_right_after_the_reply_is_not_missed_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let bus = PrivateTestBus::start_this(program);
    let _printer = serve(&bus);
    for _ in 0..JOBS {
        let connection = asynchronous::Connection::open(&bus.address, runtime).await.unwrap();
        let finished = connection.subscribe(rule().as_str());
        let reply = connection.call(NAME, PATH, NAME, "Print", &()).await.unwrap();
        let (job,): (ObjectPath<'_>,) = reply.read().unwrap();
        let signal = finished.await.unwrap().next().await.unwrap();
        assert_eq!(signal.path(), Some(job.as_str()));
    }
}

/// Counts the system calls that send, with strace.
#[test]
fn a_subscription_and_a_call_are_one_system_call() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _printer = serve(&bus);
    let directory = TestDirectory::new("one-write");
    let table = directory.file("strace.txt");
    let test = std::env::current_exe().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-s", "64", "-e", "trace=sendmsg,sendto,write", "-o", &table, "--"]);
    command.arg(test).args(["--ignored", "--exact", "one_write::traced_program"]);
    command.env("DILIGENCE_TRACED_BUS", &bus.address);
    successful(&command.output().expect("strace is installed"));
    let table = fs::read_to_string(table).unwrap();
    for front_end in ["blocking", "asynchronous"] {
        let (begin, end) = (format!("begin {front_end}"), format!("end {front_end}"));
        let lines = table.lines().skip_while(|line| !line.contains(&begin));
        let lines = lines.take_while(|line| !line.contains(&end));
        let sends = lines.filter(|line| line.contains("sendmsg(") || line.contains("sendto("));
        let sends: Vec<_> = sends.collect();
        assert_eq!(sends.len(), 1, "{front_end}: {sends:?}\n{table}");
    }
}

#[test]
#[ignore = "it is the program that another test runs with strace"]
fn traced_program() {
    let address = std::env::var("DILIGENCE_TRACED_BUS").expect("the other test sets it");
    let mark = |text: &str| std::io::stderr().write_all(text.as_bytes()).unwrap();

    let connection = Connection::open(&address).unwrap();
    mark("begin blocking");
    let finished = connection.start_subscription(rule().as_str()).unwrap();
    connection.call(NAME, PATH, NAME, "Print", &()).unwrap();
    let finished = finished.wait().unwrap();
    finished.next(None).unwrap();
    mark("end blocking");

    let runtime = LocalRuntime::new().unwrap();
    runtime.block_on(async {
        let connection = asynchronous::Connection::open(&address, &runtime).await.unwrap();
        mark("begin asynchronous");
        let finished = connection.subscribe(rule().as_str());
        connection.call(NAME, PATH, NAME, "Print", &()).await.unwrap();
        finished.await.unwrap().next().await.unwrap();
        mark("end asynchronous");
    });
}

/// Number of calls, each with a new connection.
const JOBS: usize = 50;
