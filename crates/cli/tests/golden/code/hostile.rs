// What /org/example/Object of org.example.Service has, as it says itself.
// Made by `diligence introspect --code`; a beginning, yours to change.
// For zbus 6.

use std::collections::HashMap;

/// org.example.Twice1
#[zbus::proxy(
    interface = "org.example.Twice1",
    default_service = "org.example.Service",
    default_path = "/org/example/Object"
)]
pub trait Twice1 {
    fn m(&self) -> zbus::Result<()>;
}

/// org.example.Self
#[zbus::proxy(
    interface = "org.example.Self",
    default_service = "org.example.Service",
    default_path = "/org/example/Object"
)]
pub trait Self_ {}

/// org.example._1
#[zbus::proxy(
    interface = "org.example._1",
    default_service = "org.example.Service",
    default_path = "/org/example/Object"
)]
pub trait N1 {}

/// */ int main() /* """ import os
/// ?�?/ \u0041 \
///
/// Deprecated.
#[zbus::proxy(
    interface = "org.example.Hostile1",
    default_service = "org.example.Service",
    default_path = "/org/example/Object"
)]
pub trait Hostile1 {
    fn odd(&self, arg0: &str, arg1: &str, n1: &str, a_b: &str, a_b_2: &str) -> zbus::Result<()>;

    fn same(&self, arg0: &str) -> zbus::Result<()>;

    #[zbus(name = "Same")]
    fn same_2(&self, arg0: u32) -> zbus::Result<()>;

    #[zbus(name = "same")]
    fn same_3(&self) -> zbus::Result<()>;

    #[zbus(name = "_")]
    fn unnamed(&self) -> zbus::Result<()>;

    #[zbus(name = "__init__")]
    fn init(&self) -> zbus::Result<()>;

    fn counted(&self, list: &[i32], list_count: u32) -> zbus::Result<()>;

    fn property(&self) -> zbus::Result<()>;

    fn bus(&self) -> zbus::Result<()>;

    #[zbus(property, name = "Same")]
    fn same_4(&self) -> zbus::Result<String>;

    #[zbus(property)]
    fn set_same(&self, value: &str) -> zbus::Result<()>;

    #[zbus(property)]
    fn twice(&self) -> zbus::Result<String>;

    #[zbus(property)]
    fn keyed(&self) -> zbus::Result<HashMap<String, HashMap<u32, zbus::OwnedVariant>>>;

    #[zbus(signal, name = "Same")]
    fn same_5(&self) -> zbus::Result<()>;

    #[zbus(signal, name = "Twice")]
    fn twice_2(&self) -> zbus::Result<()>;

    #[zbus(signal)]
    fn descriptor(&self, arg0: zbus::Fd<'_>) -> zbus::Result<()>;

    // Left out: method ") os.system("true: not a valid member name
    // Left out: method */ x�y: not a valid member name
    // Left out: method Types: its signature is invalid, or has several types
    // Left out: method NoTypes: its signature is invalid, or has several types
    // Left out: method Same: it is declared twice
    // Left out: method Seventeen: Rust has no tuples of more than 16 fields with traits
    // Left out: method Keys: no map of Rust has such keys
    // Left out: property Twice: it is declared twice
    // Left out: property None: its signature is invalid, or has several types
    // Left out: signal String: zbus calls a type like the signal, and this name means another
    // Left out: signal type: zbus calls a type like the signal, and this name means another
    // Left out: signal Twice: it is declared twice
}

// Left out: interface no interface"); drop();: not a valid interface name

// Left out: interface org.example.Twice1: it is declared twice
