//! Rules that say what a program in a sandbox may see and do on a bus.
//!
//! The rules have the meaning and the texts of the options of xdg-dbus-proxy, so a sandbox can keep
//! the rules that it has. Nothing is visible without a rule:
//!
//! | rule | grants |
//! | --- | --- |
//! | `see=NAME` | [`AccessLevel::See`]: the program sees the name and its owner |
//! | `talk=NAME` | [`AccessLevel::Talk`]: it may also send to the owner, and gets its broadcasts |
//! | `own=NAME` | [`AccessLevel::Own`]: it may also own the name |
//! | `call=NAME=RULE` | [`AccessLevel::Talk`], but it may only send the messages of a [`MessagePattern`] |
//! | `broadcast=NAME=RULE` | [`AccessLevel::Talk`], but it may not send |
//!
//! A connection has the rights of all well-known names that it owns. [`SandboxRules::access`]
//! computes them as a [`NameAccess`], which then decides about each message.
//!
//! ```
//! use core::num::NonZeroU32;
//! use sandbox::{AccessLevel, SandboxRules};
//! use wire::Message;
//! use wire::message::Builder;
//! use wire::names::{InterfaceName, MemberName, ObjectPath};
//!
//! let rules = SandboxRules::parse(["see=org.example.*", "call=org.example.Player=*@/player/*"])?;
//! assert_eq!(rules.level_of("org.example.Editor"), Some(AccessLevel::See));
//! assert_eq!(rules.level_of("com.example.Editor"), None);
//!
//! let mut bytes = Vec::new();
//! Builder::method_call(ObjectPath::literal("/player/1"), MemberName::literal("Pause"))
//!     .interface(InterfaceName::literal("org.example.Player"))
//!     .write(&mut bytes, NonZeroU32::MIN, &())?;
//! let call = Message::parse(&bytes)?;
//! assert!(rules.access(["org.example.Player"]).may_send(&call));
//! assert!(!rules.access(["org.example.Editor"]).may_send(&call));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate only decides. The bus, or a proxy in front of a bus, applies the decisions, and knows
//! which connection owns which names.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod access;
mod error;
mod level;
mod message_pattern;
mod name_selector;
mod rule;
mod rules;

pub use access::NameAccess;
pub use error::SandboxRuleError;
pub use level::AccessLevel;
pub use message_pattern::{MessagePattern, PathPattern};
pub use name_selector::NameSelector;
pub use rule::SandboxRule;
pub use rules::SandboxRules;
