// The displayed tracks and their order.

import type { Track } from "./tracks";

/** The order of tracks. Buses come first. */
export type TrackOrder = "appearance" | "busiest" | "longest-wait";

/** The filter and order of tracks. */
export interface TrackFilter {
  readonly order: TrackOrder;
  readonly shows: "all" | "waiting";
  /** A text that occurs in a name of the track. */
  readonly text: string;
}

/** All tracks, in the order of their first messages. */
export const ALL_TRACKS: TrackFilter = { order: "appearance", shows: "all", text: "" };

/** The indices of the displayed tracks, in order. */
export function selectedTracks(tracks: readonly Track[], filter: TrackFilter): number[] {
  const text = filter.text.trim().toLowerCase();
  const rank = RANKS[filter.order];
  const shown = tracks.map((track, place) => ({ track, place }));
  return shown
    .filter(({ track }) => isShown(track, filter, text))
    .sort(({ track: one }, { track: other }) => {
      const buses = Number(other.isBus) - Number(one.isBus);
      return buses || rank(other) - rank(one);
    })
    .map(({ place }) => place);
}

function isShown(track: Track, { shows }: TrackFilter, text: string): boolean {
  if (shows === "waiting" && !track.sections.some(({ role }) => role === "waits")) return false;
  const names = [track.title, track.subtitle, track.about];
  return names.some((name) => name.toLowerCase().includes(text));
}

/** The values by which tracks are sorted, in descending order. */
const RANKS: Readonly<Record<TrackOrder, (track: Track) => number>> = {
  appearance: () => 0,
  busiest: ({ messages }) => messages,
  "longest-wait": ({ longestWait }) => longestWait,
};
