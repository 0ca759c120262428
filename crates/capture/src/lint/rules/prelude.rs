//! What most rules use.

pub(super) use crate::collected::collected;
pub(super) use std::cmp::Reverse;
pub(super) use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
pub(super) use std::time::Duration;

pub(super) use wire::message::MessageType;

pub(super) use crate::lint::context::Context;
pub(super) use crate::lint::finding::{Confidence, Cost, Evidence, Finding, RuleId, Severity};
pub(super) use crate::lint::patterns::{busiest, grouped, percentiles, spread};
pub(super) use crate::lint::rule::{Needs, Rating, Rule, Threshold};
pub(super) use crate::lint::traffic::{INTROSPECTABLE, PROPERTIES, Party, short_name};
pub(super) use crate::lint::{queries, units};
pub(super) use crate::model::{Message, PeerId, Text};
pub(super) use crate::record::{BusId, Time};
