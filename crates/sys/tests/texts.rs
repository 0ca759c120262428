//! Messages about descriptors that were not inherited as expected.

use sys::inherited::InheritError;

#[test]
fn descriptors_that_were_not_inherited() {
    for (error, text) in [
        (InheritError::Standard(1), "descriptor 1 is a standard stream"),
        (InheritError::NotOpen(9), "descriptor 9 is not open"),
        (InheritError::Owned(9), "descriptor 9 was not inherited, or is in use already"),
        (InheritError::BadListenPid, "LISTEN_PID is not a process number"),
        (InheritError::BadListenFds, "LISTEN_FDS is not a number of descriptors"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}
