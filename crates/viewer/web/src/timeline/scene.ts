// All that a picture of the timeline is made from.

import type { Recording } from "../model/recording";
import type { Colours } from "../parts/colours";
import type { Span } from "../state/store";
import type { TrackHit } from "./hit";
import type { TrackLanes } from "./lanes";
import type { Layout } from "./layout";
import type { Stretch } from "./stretch";
import type { Tracks } from "./tracks";

/** What is below; it changes only with what is looked at. */
export interface TimelineScene {
  readonly recording: Recording;
  readonly tracks: Tracks;
  readonly layout: Layout;
  readonly stretch: Stretch;
  readonly scroll: number;
  readonly height: number;
  readonly colours: Colours;
  /** When each track had a processor, by the places of tracks. */
  readonly processors: readonly (TrackLanes | undefined)[];
}

/** What is above it, and moves with the pointer. */
export interface Marks {
  /** The message that is selected. */
  readonly selected: number | undefined;
  readonly hit: TrackHit | undefined;
  /** The pixel at which the pointer is. */
  readonly pointer: number | undefined;
  /** What is being selected. */
  readonly band: Span | undefined;
  /** What was marked to be found again. */
  readonly marked: readonly Span[];
}
