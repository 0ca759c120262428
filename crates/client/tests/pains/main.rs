//! The pains that users of client libraries report again and again, each as a test that shows that
//! this library does not have it: on the bus of this project and on dbus-daemon, in the blocking
//! and in the asynchronous front end.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[path = "../support/mod.rs"]
mod support;

/// Makes a test of each function: on each bus, and in each async runtime.
macro_rules! pains {
    (blocking: $($blocking:ident)*; asynchronous: $($asynchronous:ident)*;) => {
        mod diligence_bus {
            $crate::pains!(on Diligence: $($blocking)*; $($asynchronous)*;);
        }
        mod dbus_daemon {
            $crate::pains!(on DbusDaemon: $($blocking)*; $($asynchronous)*;);
        }
    };
    (on $program:ident: $($blocking:ident)*; $($asynchronous:ident)*;) => {
        use $crate::support::BusProgram;
        $(
            #[test]
            fn $blocking() {
                super::super::$blocking(BusProgram::$program);
            }
        )*
        mod local_runtime {
            use super::BusProgram;
            $(
                #[test]
                fn $asynchronous() {
                    let runtime = diligence_client::asynchronous::LocalRuntime::new().unwrap();
                    let test = super::super::super::$asynchronous(BusProgram::$program, &runtime);
                    runtime.block_on(test);
                }
            )*
        }
        #[cfg(feature = "tokio")]
        mod tokio {
            use super::BusProgram;
            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $asynchronous() {
                    let runtime = diligence_client::asynchronous::Tokio;
                    super::super::super::$asynchronous(BusProgram::$program, &runtime).await;
                }
            )*
        }
    };
}
pub(crate) use pains;

mod deadlines;
mod descriptors;
mod errors;
mod one_write;
mod overflow;
mod peer_to_peer;
mod reconnecting;
mod replies;
mod silent_service;
