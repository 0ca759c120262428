//! The look of each subject in all plots and tables of a page: a class of the style sheet, and a
//! marker for the points of its lines, for readers who cannot distinguish the colors.

use crate::summary::{RunSummary, SubjectRole};

/// The looks of all subjects of a page.
pub(super) struct Palette(Vec<(String, Look)>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Look {
    pub(super) class: &'static str,
    /// The SVG path of the marker, relative to its center.
    pub(super) marker: &'static str,
}

impl Palette {
    /// Assigns a look to each subject. If there are more buses than colors, the colors repeat.
    pub(super) fn new(summary: &RunSummary) -> Self {
        let mut looks: Vec<(String, Look)> = Vec::new();
        let mut peers = PEERS.into_iter().cycle();
        for subject in summary.scenarios.iter().flat_map(|scenario| &scenario.subjects) {
            if looks.iter().all(|(known, _)| known != subject) {
                let look = match SubjectRole::of(subject) {
                    SubjectRole::Ours => OURS,
                    SubjectRole::Floor => FLOOR,
                    SubjectRole::Relay => RELAY,
                    SubjectRole::Direct => DIRECT,
                    SubjectRole::Peer => peers.next().unwrap_or(OURS),
                };
                looks.push((subject.clone(), look));
            }
        }
        Self(looks)
    }

    pub(super) fn look(&self, subject: &str) -> Look {
        let known = self.0.iter().find(|(name, _)| name == subject);
        known.map_or(PEERS[0], |(_, look)| *look)
    }
}

const OURS: Look = Look { class: "look-ours", marker: CIRCLE };
pub(super) const FLOOR: Look = Look { class: "look-floor", marker: DIAMOND };
const RELAY: Look = Look { class: "look-relay", marker: DIAMOND };
const DIRECT: Look = Look { class: "look-direct", marker: DIAMOND };

const PEERS: [Look; 6] = [
    Look { class: "look-1", marker: SQUARE },
    Look { class: "look-2", marker: UP },
    Look { class: "look-3", marker: DOWN },
    Look { class: "look-4", marker: DIAMOND },
    Look { class: "look-5", marker: CIRCLE },
    Look { class: "look-6", marker: SQUARE },
];

const CIRCLE: &str = "m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z";
const SQUARE: &str = "m-3.2 -3.2h6.4v6.4h-6.4z";
const UP: &str = "m-4 3.4h8l-4 -7.6z";
const DOWN: &str = "m-4 -3.4h8l-4 7.6z";
const DIAMOND: &str = "m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z";
