//! The traffic between programs as a graph for Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use capture::Capture;
use capture::model::{CapturedMessage, PeerRole, RecordedPeerId};
use capture::record::BusId;
use capture::text::units::{bytes, counted};
use wire::message::MessageType;

/// Writes a graph of the selected messages. Its nodes are services and programs. An edge stands for
/// calls with their replies or, if dashed, for signals; its width grows with the number of bytes. A
/// broadcast signal leads to its recipients if the bus recorded them, and otherwise to a common
/// node for all subscribers. Messages of the recorder are left out.
///
/// # Errors
///
/// If writing to `out` fails.
pub fn write_dot<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    mut out: impl Write,
) -> io::Result<()> {
    let mut graph = Graph { capture, edges: BTreeMap::new() };
    let is_wanted = |message: &CapturedMessage<'c>| !message.is_of_recorder() && selects(message);
    capture.messages().filter(is_wanted).for_each(|message| graph.add(&message));
    out.write_all(graph.text().as_bytes())?;
    out.flush()
}

struct Graph<'c> {
    capture: &'c Capture,
    edges: BTreeMap<(Edge<'c>, EdgeKind), EdgeTraffic>,
}

/// The sender and the recipient.
type Edge<'c> = (GraphNode<'c>, GraphNode<'c>);

/// A node of the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct GraphNode<'c> {
    bus: BusId,
    party: GraphParty<'c>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum GraphParty<'c> {
    /// A service or program, with its name.
    Program(&'c str),
    /// All subscribers of a broadcast signal, which are not known individually.
    Subscribers,
    /// Stands for the lack of subscribers of a broadcast signal.
    NoSubscriber,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum EdgeKind {
    Calls,
    Signals,
}

#[derive(Clone, Copy, Debug, Default)]
struct EdgeTraffic {
    /// The number of calls, without their replies, or of signals.
    count: u64,
    bytes: u64,
}

impl<'c> Graph<'c> {
    fn add(&mut self, message: &CapturedMessage<'c>) {
        match (message.kind(), message.call()) {
            (MessageType::Signal, _) => self.add_signal(message),
            (_, Some(call)) => {
                let Some(caller) = call.from() else { return };
                let service = GraphParty::Program(self.capture.addressee_label(&call));
                let is_call = u64::from(message.kind() == MessageType::MethodCall);
                self.count(message, (self.program(caller), service), EdgeKind::Calls, is_call);
            }
            _ => {}
        }
    }

    fn add_signal(&mut self, signal: &CapturedMessage<'c>) {
        let Some(sender) = signal.from().map(|peer| self.program(peer)) else { return };
        if !signal.destination().is_empty() {
            let recipient = GraphParty::Program(self.capture.addressee_label(signal));
            return self.count(signal, (sender, recipient), EdgeKind::Signals, 1);
        }
        let Some(copies) = signal.deliveries() else {
            return self.count(signal, (sender, GraphParty::Subscribers), EdgeKind::Signals, 1);
        };
        if copies.is_empty() {
            return self.count(signal, (sender, GraphParty::NoSubscriber), EdgeKind::Signals, 1);
        }
        for copy in copies {
            if let Some(recipient) = self.recipient(signal.bus(), copy.recipient) {
                self.count(signal, (sender, recipient), EdgeKind::Signals, 1);
            }
        }
    }

    fn count(
        &mut self,
        message: &CapturedMessage<'c>,
        ends: (GraphParty<'c>, GraphParty<'c>),
        kind: EdgeKind,
        count: u64,
    ) {
        let node = |party| GraphNode { bus: message.bus(), party };
        let traffic = self.edges.entry(((node(ends.0), node(ends.1)), kind)).or_default();
        traffic.count += count;
        traffic.bytes += u64::from(message.len());
    }

    fn program(&self, peer: RecordedPeerId) -> GraphParty<'c> {
        GraphParty::Program(self.capture.program_label(peer))
    }

    /// The recipient of a copy; `None` if it is the recorder or is unknown.
    fn recipient(&self, bus: BusId, number: u64) -> Option<GraphParty<'c>> {
        let directory = self.capture.directory();
        let unique = self.capture.strings().find(&format!(":1.{number}"))?;
        let peer = directory.by_unique(bus, unique)?;
        (directory.peer(peer).role != PeerRole::Recorder).then(|| self.program(peer))
    }

    fn text(&self) -> String {
        let mut text = String::from(HEAD);
        let nodes: BTreeSet<_> = self.edges.keys().flat_map(|((from, to), _)| [from, to]).collect();
        let nodes: BTreeMap<_, _> = nodes.into_iter().zip(1_u32..).collect();
        let buses: BTreeSet<_> = nodes.keys().map(|node| node.bus).collect();
        for &bus in &buses {
            let own = nodes.iter().filter(|(node, _)| node.bus == bus);
            match buses.len() {
                1 => own.for_each(|(node, number)| push_node(&mut text, "  ", node, *number)),
                _ => {
                    let _ = writeln!(text, "  subgraph cluster_{} {{", bus.0);
                    let _ = writeln!(text, "    label={};", quoted(&self.bus_label(bus)));
                    own.for_each(|(node, number)| push_node(&mut text, "    ", node, *number));
                    text.push_str("  }\n");
                }
            }
        }
        let most = self.edges.values().map(|traffic| traffic.bytes).max().unwrap_or(1);
        for (((from, to), kind), traffic) in &self.edges {
            let _ = write!(text, "  n{} -> n{} ", nodes[from], nodes[to]);
            push_attributes(&mut text, *kind, traffic, most);
        }
        text + "}\n"
    }

    fn bus_label(&self, bus: BusId) -> String {
        let name = self.capture.buses().get(usize::from(bus.0)).map(|bus| bus.name.as_str());
        let name = name.filter(|name| !name.is_empty());
        name.map_or_else(|| format!("bus {}", bus.0), |name| format!("{name} bus"))
    }
}

fn push_node(text: &mut String, indent: &str, node: &GraphNode<'_>, number: u32) {
    let (label, shape) = match node.party {
        GraphParty::Program(name) => (name, ""),
        GraphParty::Subscribers => ("(subscribers)", ", shape=plain"),
        GraphParty::NoSubscriber => ("(no subscriber)", ", shape=plain"),
    };
    let _ = writeln!(text, "{indent}n{number} [label={}{shape}];", quoted(label));
}

fn push_attributes(text: &mut String, kind: EdgeKind, traffic: &EdgeTraffic, most: u64) {
    let label = match kind {
        EdgeKind::Calls => counted(traffic.count, "call", "calls"),
        EdgeKind::Signals => counted(traffic.count, "signal", "signals"),
    };
    let label = format!("{label}, {}", bytes(traffic.bytes as f64));
    // Readers compare the areas of lines, so a hundred times the traffic gets ten times the width.
    let width = WIDTH_MIN + WIDTH_SPAN * (traffic.bytes as f64 / most as f64).sqrt();
    let style = if kind == EdgeKind::Signals { ", style=dashed" } else { "" };
    let _ = writeln!(text, "[label={}, penwidth={width:.1}{style}];", quoted(&label));
}

/// A text as a quoted string of the DOT language.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

const HEAD: &str = "\
digraph diligence {
  graph [rankdir=LR, fontname=\"sans-serif\"];
  node [shape=box, style=rounded, fontname=\"sans-serif\"];
  edge [fontname=\"sans-serif\", fontsize=10];
";

/// The width of the thinnest line, and the difference to the widest, in points.
const WIDTH_MIN: f64 = 0.5;
const WIDTH_SPAN: f64 = 5.5;
