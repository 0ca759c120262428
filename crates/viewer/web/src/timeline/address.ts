// The arrangement of the timeline in the address of the page.

import type { Store } from "../state/store";
import { type AddressPart, formatSpan, parseSpan } from "../state/url";
import { arrangedOn } from "./arrangement";
import { ALL_TRACKS, type TrackOrder } from "./selection";

const ORDERS: readonly TrackOrder[] = ["appearance", "busiest", "longest-wait"];

/**
 * The displayed tracks with their order, pins and marks. Collapsed tracks are not part of the
 * address: with many of them on a large bus the address would be too long.
 */
export function timelineAddress(store: Store): AddressPart {
  const { filter, pinned, marked } = arrangedOn(store);
  return {
    write(fields) {
      const { order, shows, text } = filter.value;
      if (order !== ALL_TRACKS.order) fields.set("tracks", order);
      if (shows !== ALL_TRACKS.shows) fields.set("with", shows);
      if (text !== "") fields.set("track", text);
      for (const key of pinned.value) fields.append("pin", key);
      for (const span of marked.value) fields.append("mark", formatSpan(span));
    },
    read(fields) {
      const order = ORDERS.find((one) => one === fields.get("tracks")) ?? ALL_TRACKS.order;
      const shows = fields.get("with") === "waiting" ? "waiting" : "all";
      filter.value = { order, shows, text: fields.get("track") ?? "" };
      pinned.value = new Set(fields.getAll("pin"));
      const spans = fields.getAll("mark").map(parseSpan);
      marked.value = spans.filter((span) => span !== undefined);
    },
  };
}
