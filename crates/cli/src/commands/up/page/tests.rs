//! Tests of the page, with golden files.

use std::path::PathBuf;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use testkit::golden;

use capture::text::Colors;
use recorder::ConnectionStatistics;

use super::*;
use crate::commands::up::model::{
    BusNote, ConnectionOwner, ConnectionProgram, ConnectionRow, NoteId, NoteKind, Snapshot,
    UsedMember, UsedMemberKind,
};
use crate::commands::up::view::{OwnConnection, Panel, Sort};
use crate::live::{TrafficAmount, TrafficRate};
use crate::screen::controls::{Following, ViewControls};
use crate::screen::drawn;
use crate::screen::palette::ScreenPalette;
use crate::screen::scroll::ScrollBy;

fn draw(snapshot: &Snapshot, view: &UpView, size: (u16, u16)) -> (Buffer, String) {
    draw_on(&page(snapshot, Colors::Wanted), *view, size)
}

fn draw_on(page: &UpPage<'_>, mut view: UpView, size: (u16, u16)) -> (Buffer, String) {
    drawn(size, |frame| super::draw(page, frame, &mut view))
}

fn page(snapshot: &Snapshot, colors: Colors) -> UpPage<'_> {
    UpPage {
        snapshot,
        address: "unix:path=/run/user/1000/diligence-x7kq2a/bus",
        link: Some("http://127.0.0.1:40123/open/0123456789abcdef0123456789abcdef"),
        example: "gdbus call -e -d com.example.Battery -o /com/example/Battery -m com.example.Ask",
        palette: ScreenPalette::new(colors),
    }
}

fn check(name: &str, snapshot: &Snapshot, view: &UpView, size: (u16, u16)) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/up");
    golden::check(path.join(name), &draw(snapshot, view, size).1);
}

/// A snapshot with connections, members and events of all kinds.
fn busy() -> Snapshot {
    let history = (0..200).map(|second| 40 + (second * 37) % 90).collect();
    Snapshot {
        uptime: Duration::from_secs(4_983),
        rate: TrafficRate { messages: 1_234.4, bytes: 1_300_000.0 },
        total: TrafficAmount { messages: 5_432_100, bytes: 4_300_000_000 },
        history,
        names: 3,
        rules: Some(31),
        lost: 12,
        refused: 0,
        connections: vec![
            connection(
                ConnectionOwner::Bus,
                "org.freedesktop.DBus",
                "diligence-bus",
                &[],
                0.4,
                None,
            ),
            connection(ConnectionOwner::View, ":1.1", "diligence", &[], 9.0, stats(0, 0)),
            connection(
                ConnectionOwner::Peer,
                ":1.2",
                "demo-battery",
                &["com.example.Battery"],
                5.3,
                stats(0, 0),
            ),
            connection(
                ConnectionOwner::Peer,
                ":1.10",
                "a-service-with-a-long-name",
                &["com.example.Service.With.A.Long.Name", "com.example.Other"],
                1_200.0,
                stats(0, 0),
            ),
            connection(ConnectionOwner::Peer, ":1.123", "slow", &[], 0.0, stats(70_000_000, 12)),
            ConnectionRow {
                program: None,
                ..connection(ConnectionOwner::Peer, ":1.9", "", &[], 21.0, None)
            },
        ],
        members: vec![
            member(UsedMemberKind::Signal, PROPERTIES, "PropertiesChanged", 1_190.0, 0.0, None),
            member(UsedMemberKind::Method, PROPERTIES, "GetAll", 20.0, 0.3, Some("slow")),
            member(
                UsedMemberKind::Method,
                "com.example.Battery1",
                "SetPowerProfile",
                0.0,
                0.0,
                None,
            ),
            UsedMember {
                interface: None,
                more_parties: 2,
                ..member(UsedMemberKind::Method, "", "Ping", 0.7, 0.0, Some("demo-poller"))
            },
        ],
        notes: vec![
            note(4_982, NoteKind::Error, "slow called GetAll of demo-battery: UnknownObject", 12),
            note(4_000, NoteKind::Log, "Connection :1.123 does not read, and signals are lost.", 1),
            note(95, NoteKind::Departure, ":1.8 gdbus connected and left", 1),
            note(94, NoteKind::Name, "com.example.Other is :1.10 a-service-with-a-long-name", 1),
            note(
                3,
                NoteKind::Arrival,
                ":1.2 demo-battery connected, pid 4711, is com.example.Battery",
                1,
            ),
            note(2, NoteKind::Problem, "demo poller has ended with exit status 1", 1),
        ],
    }
}

fn connection(
    owner: ConnectionOwner,
    unique: &str,
    label: &str,
    names: &[&str],
    messages: f64,
    stats: Option<ConnectionStatistics>,
) -> ConnectionRow {
    let program = ConnectionProgram {
        pid: Some(4711),
        label: label.into(),
        command: format!("{label} --option"),
    };
    ConnectionRow {
        owner,
        unique: unique.into(),
        names: names.iter().copied().map(Into::into).collect(),
        program: Some(program),
        rate: TrafficRate { messages, bytes: messages * 210.0 },
        total: TrafficAmount { messages: 1_000, bytes: 210_000 },
        stats,
    }
}

fn stats(queued: u64, lost: u64) -> Option<ConnectionStatistics> {
    Some(ConnectionStatistics { queued, queued_peak: queued.max(4096), lost, rules: 3 })
}

fn member(
    kind: UsedMemberKind,
    interface: &str,
    member: &str,
    messages: f64,
    errors: f64,
    party: Option<&str>,
) -> UsedMember {
    UsedMember {
        kind,
        interface: Some(interface.into()),
        member: member.into(),
        owner: "demo-battery".into(),
        party: party.map(Into::into),
        more_parties: 0,
        rate: TrafficRate { messages, bytes: messages * 420.0 },
        errors,
        len: 420.0,
        count: 99,
    }
}

fn note(second: u64, kind: NoteKind, text: &str, times: u64) -> BusNote {
    let id = NoteId::default();
    BusNote { id, at: Duration::from_secs(second), kind, text: text.into(), times }
}

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

#[test]
fn a_busy_bus_is_shown_on_terminals_of_all_sizes() {
    let view = UpView::default();
    check("busy-60x15", &busy(), &view, (60, 15));
    check("busy-80x24", &busy(), &view, (80, 24));
    check("busy-120x40", &busy(), &view, (120, 40));
    check("busy-160x50", &busy(), &view, (160, 50));
}

#[test]
fn a_bus_without_connections_explains_how_to_use_it() {
    let bus =
        connection(ConnectionOwner::Bus, "org.freedesktop.DBus", "diligence-bus", &[], 0.0, None);
    let snapshot = Snapshot { connections: vec![bus], ..Snapshot::default() };
    check("unconnected-80x24", &snapshot, &UpView::default(), (80, 24));
}

fn help() -> ViewControls {
    ViewControls { overlay: Overlay::Help, ..ViewControls::default() }
}

#[test]
fn the_help_covers_the_page() {
    let view = UpView { controls: help(), ..UpView::default() };
    check("help-80x24", &busy(), &view, (80, 24));
}

#[test]
fn a_paused_page_shows_sort_order_and_own_connections() {
    let mut view = UpView {
        sort: Sort::Queue,
        own: OwnConnection::Shown,
        controls: ViewControls { following: Following::Paused, ..ViewControls::default() },
        focus: Panel::Events,
        ..UpView::default()
    };
    let scroll = view.scroll(Panel::Events);
    scroll.show(6, 3);
    scroll.scroll(ScrollBy::LineDown);
    scroll.scroll(ScrollBy::LineDown);
    check("paused-80x24", &busy(), &view, (80, 24));
}

#[test]
fn pages_are_drawn_on_terminals_of_any_size() {
    for controls in [ViewControls::default(), help()] {
        let view = UpView { controls, ..UpView::default() };
        for (width, height) in (0..90).flat_map(|width| (0..30).map(move |height| (width, height)))
        {
            if width % 7 == 0 || height % 5 == 0 {
                draw(&busy(), &view, (width, height));
            }
        }
    }
    draw(&Snapshot::default(), &UpView::default(), (500, 200));
}

#[test]
fn pages_without_colors_have_no_colored_cells() {
    let snapshot = busy();
    let page = page(&snapshot, Colors::Unwanted);
    let (buffer, _) = draw_on(&page, UpView::default(), (120, 40));
    let colored =
        |style: Style| !matches!((style.fg, style.bg), (Some(Color::Reset), Some(Color::Reset)));
    assert!(buffer.content.iter().all(|cell| !colored(cell.style())));
}

#[test]
fn colors_mark_problems_and_headings() {
    let (buffer, text) = draw(&busy(), &UpView::default(), (120, 40));
    let style_at = |needle: &str| {
        let (y, line) = text.lines().enumerate().find(|(_, line)| line.contains(needle)).unwrap();
        let x = line[..line.find(needle).unwrap()].chars().count();
        buffer[(x as u16, y as u16)].style()
    };
    assert_eq!(style_at("12 lost").fg, Some(Color::Red));
    assert_eq!(style_at("67 MiB").fg, Some(Color::Red));
    assert_eq!(style_at("! slow called").fg, Some(Color::Red));
    assert!(style_at("Battery1.SetPowerProfile").add_modifier.contains(Modifier::DIM));
    assert_eq!(style_at("METHOD OR SIGNAL").bg, Some(Color::Gray));
    assert!(style_at("up 1:23:03").add_modifier.contains(Modifier::BOLD));
}
