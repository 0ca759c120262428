// Which tracks are shown, and in which order.

import type { Track } from "./tracks";

/** In which order tracks stand. Buses come first. */
export type TrackOrder = "appearance" | "busiest" | "longest-wait";

/** Which tracks are shown. */
export interface TrackFilter {
  readonly order: TrackOrder;
  readonly shows: "all" | "waiting";
  /** What is in a name of them. */
  readonly text: string;
}

/** All tracks, in the order of their first messages. */
export const ALL_TRACKS: TrackFilter = { order: "appearance", shows: "all", text: "" };

/** The places of the tracks that are shown, in their order. */
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

/** What comes first has more of this. */
const RANKS: Readonly<Record<TrackOrder, (track: Track) => number>> = {
  appearance: () => 0,
  busiest: ({ messages }) => messages,
  "longest-wait": ({ longestWait }) => longestWait,
};
