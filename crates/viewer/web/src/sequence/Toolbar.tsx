// The toolbar with the display options of the diagram.

import type { JSX } from "preact";
import { count } from "../parts/format";
import { useStore } from "../state/context";
import type { Diagram } from "./Diagram";
import { Legend } from "./Legend";
import type { ColumnGrouping, Order } from "./model/columns";
import type { TimeStyle } from "./paint/pen";
import { PictureButton } from "./picture/PictureButton";
import { sequenceState, toggleFolding, toggleMerging } from "./state";

interface ToolbarProps {
  readonly diagram: Diagram | undefined;
}

export function Toolbar({ diagram }: ToolbarProps): JSX.Element {
  const state = sequenceState(useStore());
  const { down, folding, grouping, merging, order, reference, timeStyle } = state;
  return (
    <div class="sequence-bar" role="toolbar" aria-label="Sequence diagram">
      <Choice
        label="Vertical axis"
        title="A line for each message, or to scale with time (o)"
        value={down.value}
        options={{ order: "In order", time: "To scale" }}
        onChoose={(value: "order" | "time") => (down.value = value)}
      />
      <Choice
        label="Columns"
        title="What each column represents"
        value={grouping.value}
        options={{ connection: "By service", process: "By process" }}
        onChoose={(value: ColumnGrouping) => (grouping.value = value)}
      />
      <Choice
        label="Column order"
        title="Columns only for peers that are active in view, or a fixed position for each"
        value={order.value}
        options={{ compact: "In view", appearance: "All, first seen", traffic: "All, busiest" }}
        onChoose={(value: Order) => (order.value = value)}
      />
      <Choice
        label="Time format"
        title="Time format (c)"
        value={timeStyle.value}
        options={{ start: sinceWhat(reference.value), wall: "Time of day", delta: "Since last" }}
        onChoose={(value: TimeStyle) => (timeStyle.value = value)}
      />
      <button
        type="button"
        class="sequence-toggle"
        aria-pressed={folding.value.folds === "runs"}
        disabled={down.value === "time"}
        title="One line for repeated messages (z)"
        onClick={() => toggleFolding(state)}
      >
        Fold
      </button>
      <button
        type="button"
        class="sequence-toggle"
        aria-pressed={merging.value.merges === "programs"}
        title="One column for all short-lived connections of a program (Shift+E)"
        onClick={() => toggleMerging(state)}
      >
        Merge
      </button>
      {diagram === undefined ? null : <Stretch diagram={diagram} />}
      <ToEnd diagram={diagram} />
      {diagram === undefined ? null : <PictureButton diagram={diagram} />}
      <Legend />
    </div>
  );
}

/** The reference of displayed times, unless they are times of day. */
function sinceWhat(reference: number | undefined): string {
  return reference === undefined ? "Since start" : `From message ${count(reference)}`;
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly title: string;
  readonly value: T;
  readonly options: Readonly<Record<T, string>>;
  readonly onChoose: (value: T) => void;
}

/** A choice between a few options. */
export function Choice<T extends string>(props: ChoiceProps<T>): JSX.Element {
  const { label, title, value, options, onChoose } = props;
  const isOption = (key: string): key is T => key in options;
  const choose = (key: string): void => {
    if (isOption(key)) onChoose(key);
  };
  return (
    <select
      aria-label={label}
      title={title}
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {Object.entries<string>(options).map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  );
}

/**
 * Restricts all views to the visible time range. The chip beside the query removes the restriction.
 */
function Stretch({ diagram }: { readonly diagram: Diagram }): JSX.Element | null {
  const store = useStore();
  if (sequenceState(store).down.value !== "time") return null;
  const look = (): void => {
    store.span.value = diagram.seenTime();
  };
  return (
    <button
      type="button"
      class="sequence-toggle"
      title="Restrict all views to the visible time range"
      onClick={look}
    >
      Only visible range
    </button>
  );
}

/** Follows the newest messages of a running bus again. */
function ToEnd({ diagram }: ToolbarProps): JSX.Element | null {
  if (!useStore().isLive.value) return null;
  return (
    <button type="button" class="sequence-toggle" onClick={() => diagram?.viewport.moveToEnd()}>
      To the end
    </button>
  );
}
