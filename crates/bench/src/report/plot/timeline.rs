//! Which process had the processor when: a lane for each, and a bar for each time.

use plotters::coord::ranged1d::ValueFormatter as _;

use super::axis::Axis;
use super::canvas::{Area, Drawn, Fault, Side, fill, line, stroke, svg, write};
use crate::report::palette::{AXIS, FLOOR, GRID, Ink, Palette};
use crate::result::{Timeline, Track};

/// Draws a timeline on a scale that ends at a time in nanoseconds, which is the same for all
/// timelines that are to be compared.
pub(in crate::report) fn timeline(
    timeline: &Timeline,
    end: u64,
    palette: &Palette,
) -> Result<String, Fault> {
    let height = timeline.tracks.len() as f64 * PITCH;
    let axis = Axis::of_time(microseconds(end));
    let bus_ink = palette.look(&timeline.subject).ink;
    svg((WIDTH, height + AXIS_HEIGHT), |area| {
        ticks(area, &axis, height)?;
        for (index, track) in timeline.tracks.iter().enumerate() {
            let ink = if track.name == BUS { bus_ink } else { FLOOR };
            lane(area, track, (index as f64 * PITCH, &axis), ink)?;
        }
        line(area, [(START, height), (WIDTH - MARGIN, height)], stroke(AXIS, 1.0))
    })
}

fn ticks(area: &Area<'_>, axis: &Axis, height: f64) -> Drawn {
    for tick in &axis.ticks {
        let x = place(axis, *tick);
        line(area, [(x, 0.0), (x, height)], stroke(GRID, 1.0))?;
        write(area, &format!("{} µs", Axis::format(tick)), (x, height + 13.0), Side::Middle)?;
    }
    Ok(())
}

fn lane(area: &Area<'_>, track: &Track, (top, axis): (f64, &Axis), ink: Ink) -> Drawn {
    write(area, &track.name, (START - 8.0, top + PITCH / 2.0), Side::Left)?;
    for (from, to) in &track.spans {
        let (from, to) = (place(axis, microseconds(*from)), place(axis, microseconds(*to)));
        let to = to.max(from + SPAN_WIDTH_MIN);
        fill(area, [(from, top + LANE_GAP), (to, top + PITCH - LANE_GAP)], ink)?;
    }
    Ok(())
}

/// Where a time is, in pixels.
fn place(axis: &Axis, microseconds: f64) -> f64 {
    START + axis.share(microseconds) * (WIDTH - MARGIN - START)
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

/// What the track of the bus is called.
const BUS: &str = "bus";

/// In pixels.
const WIDTH: f64 = 1000.0;
const START: f64 = 96.0;
/// On the right, for half of the last tick's label.
const MARGIN: f64 = 30.0;
const PITCH: f64 = 19.0;
/// Above and below a bar.
const LANE_GAP: f64 = 3.0;
/// For the labels of the ticks.
const AXIS_HEIGHT: f64 = 24.0;
/// The shortest time is still seen.
const SPAN_WIDTH_MIN: f64 = 0.6;
