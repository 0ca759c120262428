//! How each subject looks, on all plots of a page and in all its tables.
//!
//! A plot is drawn in the colours for a light page. On a dark one, rules of the style sheet put
//! others in their place, which find an element by the colour that it was drawn in.

use std::fmt::Write as _;

use plotters::style::RGBColor;

use crate::summary::Role;

/// How each subject of a page looks.
pub(super) struct Palette {
    looks: Vec<(String, Look)>,
}

/// How a subject looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Look {
    pub(super) ink: Ink,
    pub(super) marker: Marker,
    pub(super) line: Line,
}

/// A colour on a light page and on a dark one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ink {
    pub(super) light: RGBColor,
    dark: RGBColor,
}

/// What stands at the points of a line, for those who cannot tell its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Marker {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
}

/// How a line is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// That of this project's bus.
    Strong,
    Plain,
    /// What is not a bus, for comparison.
    Dashed,
}

impl Palette {
    /// Gives each subject a look. With more peers than colours, those start again with other
    /// markers.
    pub(super) fn new<'a>(subjects: impl Iterator<Item = &'a str>) -> Self {
        let mut palette = Self { looks: Vec::new() };
        let mut peers = 0;
        for subject in subjects {
            let is_known = palette.looks.iter().any(|(name, _)| name == subject);
            if !is_known {
                let role = Role::of(subject);
                palette.looks.push((subject.to_owned(), Look::new(role, peers)));
                peers += usize::from(role == Role::Peer);
            }
        }
        palette
    }

    /// The look of a subject.
    pub(super) fn look(&self, subject: &str) -> Look {
        let known = self.looks.iter().find(|(name, _)| name == subject);
        known.map_or(Look::new(Role::Peer, 0), |(_, look)| *look)
    }
}

impl Look {
    fn new(role: Role, peer: usize) -> Self {
        let (ink, marker, line) = match role {
            Role::Ours => (OURS, Marker::Circle, Line::Strong),
            Role::Floor => (FLOOR, Marker::Diamond, Line::Dashed),
            Role::Relay => (FLOOR, Marker::Diamond, Line::Plain),
            Role::Direct => (DIRECT, Marker::Diamond, Line::Dashed),
            Role::Peer => (PEERS[peer % PEERS.len()], MARKERS[peer % MARKERS.len()], Line::Plain),
        };
        Self { ink, marker, line }
    }
}

impl Ink {
    const fn new(light: u32, dark: u32) -> Self {
        Self { light: colour(light), dark: colour(dark) }
    }

    /// As a value in a style sheet, on a light page.
    pub(super) fn css(self) -> String {
        hex(self.light)
    }
}

/// The rules of the style sheet that turn plots dark.
pub(super) fn dark_rules() -> String {
    let all = [TEXT, AXIS, GRID, OURS, FLOOR, DIRECT].into_iter().chain(PEERS);
    let mut rules = "@media (prefers-color-scheme: dark) {\n".to_owned();
    for ink in all {
        let (light, dark) = (hex(ink.light), hex(ink.dark));
        let _ = writeln!(rules, "svg [fill=\"{light}\"] {{ fill: {dark} }}");
        let _ = writeln!(rules, "svg [stroke=\"{light}\"] {{ stroke: {dark} }}");
    }
    rules + "}\n"
}

/// As plots have it in their attributes, which is what the rules compare.
fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

const fn colour(rgb: u32) -> RGBColor {
    let [_, red, green, blue] = rgb.to_be_bytes();
    RGBColor(red, green, blue)
}

pub(super) const TEXT: Ink = Ink::new(0x41_48_51, 0xBF_C6_CE);
pub(super) const AXIS: Ink = Ink::new(0x8A_93_9D, 0x6E_77_82);
pub(super) const GRID: Ink = Ink::new(0xE4_E7_EB, 0x2A_30_37);

const OURS: Ink = Ink::new(0x00_66_B3, 0x4F_AF_FF);
pub(super) const FLOOR: Ink = Ink::new(0x6B_72_80, 0x9A_A3_AE);
const DIRECT: Ink = Ink::new(0x99_A1_AC, 0x6F_78_84);

/// Blue is ours, and grey is no bus. These keep apart from them and from each other for those who
/// see fewer colours (after Okabe and Ito, darkened for lines on white), in this order.
const PEERS: [Ink; 6] = [
    Ink::new(0xC9_7B_00, 0xF2_AE_36),
    Ink::new(0x00_8A_68, 0x35_CC_A0),
    Ink::new(0xB4_54_99, 0xE6_9A_CC),
    Ink::new(0xC0_3F_14, 0xFF_86_5C),
    Ink::new(0x7D_78_00, 0xD6_CE_45),
    Ink::new(0x6A_45_2C, 0xC9_9F_7D),
];

/// As many as are not a divisor of the number of colours, so that pairs do not repeat soon.
const MARKERS: [Marker; 5] =
    [Marker::Square, Marker::Up, Marker::Down, Marker::Diamond, Marker::Circle];
