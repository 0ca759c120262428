//! The imports that most rules share.

pub(super) use crate::collected::collected;
pub(super) use std::cmp::Reverse;
pub(super) use std::collections::{BTreeMap, BinaryHeap};
pub(super) use std::time::Duration;

pub(super) use wire::message::MessageType;

pub(super) use crate::lint::context::LintContext;
pub(super) use crate::lint::finding::{
    Confidence, Cost, Evidence, Finding, FindingSeverity, LintRuleId,
};
pub(super) use crate::lint::patterns::{busiest, grouped, percentiles, spread};
pub(super) use crate::lint::rule::{LintRule, Needs, Rating, Threshold};
pub(super) use crate::lint::traffic::{INTROSPECTABLE, PROPERTIES, TrafficParty, short_name};
pub(super) use crate::lint::{queries, units};
pub(super) use crate::model::{CapturedMessage, RecordedPeerId, TextId};
pub(super) use crate::record::{BusId, RecordedTime};

/// Rules look up ids of messages and texts, for which a fast hash function is enough.
pub(super) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

pub(super) type HashSet<T> = std::collections::HashSet<T, foldhash::fast::RandomState>;
