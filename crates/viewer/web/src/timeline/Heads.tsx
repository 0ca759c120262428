// The names of tracks, with their buttons.

import type { JSX } from "preact";
import { CutText } from "../parts/CutText";
import { oneLine } from "../parts/visibleText";
import { sequenceState, toggleGroup } from "../sequence/state";
import { type Placed, RULER, seen } from "./layout";
import type { Timeline } from "./state";

const NAME_MOST = 200;

/** The heads of the visible tracks. */
export function Heads({ timeline }: { readonly timeline: Timeline }): JSX.Element {
  const layout = timeline.layout.value;
  const { height } = timeline.size.value;
  const heads = [...seen(layout, timeline.scroll.value, height)];
  const part = (isPinned: boolean): JSX.Element[] =>
    heads
      .filter(({ placed }) => placed.isPinned === isPinned)
      .map(({ placed, top }) => (
        <Head
          key={placed.track.key}
          timeline={timeline}
          placed={placed}
          top={top - RULER - (isPinned ? 0 : layout.pinnedHeight)}
        />
      ));
  return (
    <div class="timeline-heads">
      <AllHead timeline={timeline} />
      <ul class="timeline-heads-part" style={{ height: `${layout.pinnedHeight}px` }}>
        {part(true)}
      </ul>
      <ul class="timeline-heads-part timeline-heads-rest">{part(false)}</ul>
    </div>
  );
}

function AllHead({ timeline }: { readonly timeline: Timeline }): JSX.Element {
  const keys = (timeline.tracks.value?.tracks ?? []).map(({ key }) => key);
  const isCollapsed = keys.length > 0 && keys.every((key) => timeline.collapsed.value.has(key));
  return (
    <div class="timeline-corner" style={{ height: `${RULER}px` }}>
      <button
        type="button"
        class="timeline-plain"
        onClick={() => timeline.toggle("collapsed", keys)}
      >
        {isCollapsed ? "▸ expand all" : "▾ collapse all"}
      </button>
    </div>
  );
}

interface HeadProps {
  readonly timeline: Timeline;
  readonly placed: Placed;
  readonly top: number;
}

function Head({ timeline, placed, top }: HeadProps): JSX.Element {
  const { key, title, subtitle, about, group, isBus } = placed.track;
  const name = oneLine(title, NAME_MOST);
  const words = [title, subtitle, about].filter((text) => text !== "");
  const style = { transform: `translateY(${top}px)`, height: `${placed.height}px` };
  return (
    <li
      class={`timeline-head${isBus ? " bus" : ""}${placed.isCollapsed ? " collapsed" : ""}`}
      style={style}
      title={words.map((text) => oneLine(text, NAME_MOST)).join("\n")}
    >
      <button
        type="button"
        class="timeline-plain timeline-fold"
        aria-expanded={!placed.isCollapsed}
        onClick={() => timeline.toggle("collapsed", [key])}
      >
        <span aria-hidden="true">{placed.isCollapsed ? "▸" : "▾"}</span> <span>{name}</span>
      </button>
      <button
        type="button"
        class="timeline-plain timeline-pin"
        aria-pressed={placed.isPinned}
        aria-label={`Pin ${name}`}
        title={placed.isPinned ? "Unpin the track" : "Pin the track to the top"}
        onClick={() => timeline.toggle("pinned", [key])}
      >
        ⌖
      </button>
      {placed.isCollapsed && group?.isMerged === true ? null : (
        <span class={`timeline-subtitle${placed.isCollapsed ? " beside" : ""}`}>
          <CutText text={oneLine(subtitle, NAME_MOST)} />
        </span>
      )}
      {group === undefined ? null : (
        <button
          type="button"
          class="timeline-plain timeline-group"
          title={
            group.isMerged
              ? "A track for each process"
              : "One track for all processes of this program"
          }
          onClick={() => toggleGroup(sequenceState(timeline.store), group.key)}
        >
          {group.isMerged ? "Expand" : "Merge"}
        </button>
      )}
    </li>
  );
}
