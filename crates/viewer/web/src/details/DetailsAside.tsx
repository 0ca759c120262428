// The panel beside the view: how wide it is, and whether it is there.

import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useKeys } from "../keys/useKeys";
import { useStore } from "../state/context";
import { numberOf, remembered } from "../state/remember";
import { DetailsPanel } from "./DetailsPanel";
import { detailsKeys } from "./detailsKeys";

/** Widths in pixels: at first, at least, and for a press of a key. */
const WIDTH = 360;
const WIDTH_MIN = 260;
const STEP = 20;

const width = remembered("details-width", WIDTH, numberOf);
const isOpen = remembered("details-open", true, (kept) =>
  typeof kept === "boolean" ? kept : undefined,
);

/** Everything about the selected message, in a panel that can be made wider, or put away. */
export function DetailsAside(): JSX.Element {
  const store = useStore();
  useKeys("Details", () => detailsKeys(store, toggle));
  if (!isOpen.value) return <Closed />;
  const isUsed = store.selected.value !== undefined;
  return (
    <aside
      class={`details${isUsed ? "" : " details-unused"}`}
      aria-label="Details"
      style={{ "--details-width": `${clamped(width.value)}px` }}
    >
      <Edge width={width} />
      <DetailsPanel onClose={toggle} />
    </aside>
  );
}

function Closed(): JSX.Element {
  return (
    <aside class="details-closed" aria-label="Details">
      <button type="button" class="plain" title="Open the details (i)" onClick={toggle}>
        Details
      </button>
    </aside>
  );
}

/** The edge that is dragged, or moved by keys. */
function Edge({ width }: { readonly width: Signal<number> }): JSX.Element {
  const move = (event: PointerEvent): void => {
    const edge = event.currentTarget as HTMLElement;
    if (edge.hasPointerCapture(event.pointerId)) width.value = clamped(innerWidth - event.clientX);
  };
  return (
    <div
      class="details-edge"
      role="separator"
      aria-label="Width of the details"
      aria-orientation="vertical"
      aria-valuenow={clamped(width.value)}
      aria-valuemin={WIDTH_MIN}
      aria-valuemax={widthMax()}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={move}
      onDblClick={() => (width.value = WIDTH)}
      onKeyDown={(event) => {
        const step = event.key === "ArrowLeft" ? STEP : event.key === "ArrowRight" ? -STEP : 0;
        if (step === 0) return;
        width.value = clamped(width.peek() + step);
        event.preventDefault();
      }}
    />
  );
}

function toggle(): void {
  isOpen.value = !isOpen.value;
}

function clamped(pixels: number): number {
  return Math.round(Math.max(WIDTH_MIN, Math.min(pixels, widthMax())));
}

/** The view keeps some room. */
function widthMax(): number {
  return Math.max(WIDTH_MIN, innerWidth * 0.6);
}
