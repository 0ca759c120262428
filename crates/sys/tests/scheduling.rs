//! Processors, nice values and slices of real processes.

use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use sys::load;
use sys::scheduling::{
    Nice, ProcessorSet, Slice, nice, own_processors, processors, reset_slice, set_nice,
    set_own_processors, set_processors, set_slice, slice,
};

/// A process that waits until it is dropped.
struct WaitingProcess(Child);

impl WaitingProcess {
    fn start() -> Self {
        Self(Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat runs"))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for WaitingProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("it is ours");
    }
}

#[test]
fn a_process_is_confined_and_set_free() {
    let allowed = own_processors().unwrap();
    let waiter = WaitingProcess::start();
    assert_eq!(processors(waiter.pid()).unwrap(), allowed);
    for number in allowed.iter() {
        let one = ProcessorSet::one(number).unwrap();
        set_processors(waiter.pid(), &one).unwrap();
        assert_eq!(processors(waiter.pid()).unwrap(), one);
    }
    set_processors(waiter.pid(), &allowed).unwrap();
    assert_eq!(processors(waiter.pid()).unwrap(), allowed);
}

#[test]
fn children_of_a_thread_inherit_its_processors() {
    // Uses a thread, so that the other tests keep their processors.
    let confined = thread::spawn(|| {
        let one = own_processors().unwrap().iter().next().and_then(ProcessorSet::one).unwrap();
        set_own_processors(&one).unwrap();
        assert_eq!(own_processors().unwrap(), one);
        assert_eq!(processors(WaitingProcess::start().pid()).unwrap(), one);
    });
    confined.join().unwrap();
}

#[test]
fn processors_that_are_not_there_are_refused() {
    let missing = ProcessorSet::one(ProcessorSet::LIMIT - 1).unwrap();
    let waiter = WaitingProcess::start();
    let refused = set_processors(waiter.pid(), &missing).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
}

#[test]
fn nice_value_of_a_process_is_set() {
    let waiter = WaitingProcess::start();
    let before = nice(waiter.pid()).unwrap();
    let quieter = Nice::new((before.get() + 2).min(19)).unwrap();
    set_nice(waiter.pid(), quieter).unwrap();
    assert_eq!(nice(waiter.pid()).unwrap(), quieter);
}

#[test]
fn a_slice_is_set_and_taken_back() {
    let waiter = WaitingProcess::start();
    let usual = match slice(waiter.pid()) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            println!("not tested: this kernel has no slices, that takes Linux 6.12");
            return;
        }
        usual => usual.unwrap(),
    };
    let quieter = Nice::new(4).unwrap();
    set_nice(waiter.pid(), quieter).unwrap();
    for length in [Slice::SHORTEST, Duration::from_micros(1234), Slice::LONGEST] {
        let wanted = Slice::new(length).unwrap();
        set_slice(waiter.pid(), wanted).unwrap();
        assert_eq!(slice(waiter.pid()).unwrap(), wanted);
    }
    assert_eq!(nice(waiter.pid()).unwrap(), quieter);
    reset_slice(waiter.pid()).unwrap();
    assert_eq!(slice(waiter.pid()).unwrap(), usual);
}

#[test]
fn scheduling_a_missing_process_is_not_found() {
    let ended = WaitingProcess::start();
    let gone = ended.pid();
    drop(ended);
    let all = own_processors().unwrap();
    let length = Slice::new(Slice::SHORTEST).unwrap();
    for missing in [0, gone, u32::MAX] {
        let errors = [
            processors(missing).unwrap_err(),
            set_processors(missing, &all).unwrap_err(),
            nice(missing).unwrap_err(),
            set_nice(missing, Nice::default()).unwrap_err(),
            slice(missing).unwrap_err(),
            set_slice(missing, length).unwrap_err(),
            reset_slice(missing).unwrap_err(),
        ];
        assert_eq!(errors.map(|error| error.kind()), [ErrorKind::NotFound; 7], "{missing}");
    }
}

#[test]
fn the_load_of_every_processor_grows() {
    let before = load::processors().unwrap();
    assert!(own_processors().unwrap().iter().all(|number| before.contains_key(&number)));
    let deadline = Instant::now() + Duration::from_secs(30);
    for (number, before) in before {
        loop {
            let after = load::processors().unwrap()[&number];
            let spent = [before, after].map(|load| load.busy + load.idle + load.stolen);
            if spent[1] > spent[0] {
                break;
            }
            assert!(Instant::now() < deadline, "processor {number}: {before:?} {after:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
