//! The runtimes of the asynchronous front end, for tests.

/// Makes a test of each function for each runtime, which the function gets.
macro_rules! in_each_runtime {
    ($($name:ident)*) => {
        mod local {
            $(
                #[test]
                fn $name() {
                    let runtime = diligence_client::asynchronous::LocalRuntime::new().unwrap();
                    runtime.block_on(super::$name(&runtime));
                }
            )*
        }

        #[cfg(feature = "tokio")]
        mod tokio {
            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(&diligence_client::asynchronous::Tokio).await;
                }
            )*
        }
    };
}
pub(crate) use in_each_runtime;
