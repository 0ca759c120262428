import { expect, test } from "vitest";
import { selectedTracks, type TrackFilter } from "./selection";
import { lanesOf } from "./testing";
import type { Role, Track } from "./tracks";

function track(title: string, differs: Partial<Track> = {}, role: Role = "waits"): Track {
  const sections = [{ role, lanes: lanesOf([[0, 1]]) }];
  const counts = { messages: 1, longestWait: 0, sections };
  return { key: title, title, subtitle: "", about: "", isBus: false, ...counts, ...differs };
}

const TRACKS = [
  track("shell", { subtitle: "org.gnome.Shell", messages: 3, longestWait: 50 }),
  track("mail", { about: "process 77", messages: 9 }, "serves"),
  track("the bus", { isBus: true }, "bus"),
  track("music", { longestWait: 900 }),
];

test.each<[Partial<TrackFilter>, string[]]>([
  [{}, ["the bus", "shell", "mail", "music"]],
  [{ order: "busiest" }, ["the bus", "mail", "shell", "music"]],
  [{ order: "longest-wait" }, ["the bus", "music", "shell", "mail"]],
  [{ shows: "waiting" }, ["shell", "music"]],
  [{ text: " GNOME " }, ["shell"]],
  [{ text: "process 77" }, ["mail"]],
  [{ text: "m", order: "longest-wait", shows: "waiting" }, ["music", "shell"]],
  [{ text: "nothing has this" }, []],
])("with %o the tracks are %o", (differs, expected) => {
  const filter: TrackFilter = { order: "appearance", shows: "all", text: "", ...differs };
  const titles = selectedTracks(TRACKS, filter).map((place) => TRACKS[place]?.title);
  expect(titles).toEqual(expected);
});
