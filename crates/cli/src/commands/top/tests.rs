//! Tests of the view, with golden files.

use std::path::PathBuf;
use std::time::Duration;

use capture::record::{CaptureMethod, RecordedBus};
use testkit::golden;
use testkit::recording::TestRecording;

use super::view::TopView;
use super::*;
use crate::screen::drawn;

/// Ten seconds of a bus with a mixer, a slow archive, and a program whose calls name an unknown
/// object.
fn busy() -> (LiveTraffic, capture::RecordedTime) {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus { method: CaptureMethod::Trace, ..RecordedBus::default() });
    recording
        .process(":1.5", 501, "panel")
        .process(":1.6", 77, "mixerd")
        .process(":1.7", 78, "archived");
    recording
        .owner("org.example.Mixer", ":1.6")
        .owner("org.example.archive.with.a.LongName", ":1.7");
    for round in 0..10_u32 {
        for _ in 0..=round % 3 {
            let call = recording.call(
                ":1.5",
                "org.example.Mixer",
                "/mixer org.example.Mixer.Get",
                &("volume",),
            );
            recording.wait_us(340).reply(&call, ":1.6", &(round,)).wait_ms(3);
        }
        let find = recording.call(
            ":1.5",
            "org.example.archive.with.a.LongName",
            "/ org.example.Archive.Find",
            &(),
        );
        recording.wait_ms(140).reply(&find, ":1.7", &(vec![7_u8; 4000],));
        recording.signal(":1.6", "/mixer org.example.Mixer.Changed", &(round,)).wait_ms(800);
        if round % 4 == 0 {
            let call =
                recording.call(":1.5", "org.example.Mixer", "/no org.example.Mixer.Get", &("x",));
            recording.wait_us(90).error(
                &call,
                ":1.6",
                "org.freedesktop.DBus.Error.UnknownObject",
                "no",
            );
        }
    }
    recording.call(":1.5", "org.example.Gone", "/ org.example.Gone.Get", &());
    let mut now = Duration::ZERO;
    let mut traffic = LiveTraffic::new(table::MESSAGES_KEPT, now);
    let mut messages = 0;
    recording.each(|record| {
        messages += u32::from(matches!(record, capture::RecordingRecord::Message(_)));
        traffic.push(record);
        if messages % 6 == 0 {
            now += Duration::from_secs(1);
            traffic.step(now);
        }
    });
    (traffic, recording.now())
}

#[test]
fn the_page_fits_terminals_of_any_width() {
    let (traffic, now) = busy();
    for width in [80, 100, 160, 200] {
        let mut text = String::new();
        for by in
            [GroupKeyKind::Service, GroupKeyKind::Member, GroupKeyKind::Process, GroupKeyKind::Pair]
        {
            let (query, span) = (Query::default(), Duration::from_secs(20));
            let mut view = TopView::new(by, "messages".into(), query, String::new(), span);
            view.refresh(&traffic, now).expect("there is such a column");
            text += &drawn((width, 16), |frame| page::draw(frame, &traffic, &mut view)).1;
        }
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/top");
        golden::check(path.join(format!("{width}.txt")), &text);
    }
}
