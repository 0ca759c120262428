// The data of a picture of the timeline.

import type { Recording } from "../model/recording";
import type { Colors } from "../parts/colors";
import type { Span } from "../state/store";
import type { TrackHit } from "./hit";
import type { TrackLanes } from "./lanes";
import type { Layout } from "./layout";
import type { Stretch } from "./stretch";
import type { Tracks } from "./tracks";

/** The lower layer, which changes only with the displayed range and tracks. */
export interface TimelineScene {
  readonly recording: Recording;
  readonly tracks: Tracks;
  readonly layout: Layout;
  readonly stretch: Stretch;
  readonly scroll: number;
  readonly height: number;
  readonly colors: Colors;
  /** Running times on processors, by track index. */
  readonly processors: readonly (TrackLanes | undefined)[];
}

/** The upper layer, which changes with the pointer. */
export interface Marks {
  /** The selected message. */
  readonly selected: number | undefined;
  readonly hit: TrackHit | undefined;
  /** The position of the pointer in pixels. */
  readonly pointer: number | undefined;
  /** The range that is being selected. */
  readonly band: Span | undefined;
  /** The marked ranges. */
  readonly marked: readonly Span[];
}
