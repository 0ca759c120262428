// The details panel next to the view: its width and visibility.

import type { JSX } from "preact";
import { useKeys } from "../keys/useKeys";
import { Edge } from "../parts/Edge";
import { useStore } from "../state/context";
import { DetailsPanel } from "./DetailsPanel";
import { detailsKeys } from "./detailsKeys";

/** Widths in pixels: the default in wide and in narrow windows, and the minimum. */
const WIDTH_WIDE = 360;
const WIDTH_NARROW = 300;
const WIDTH_MIN = 260;

/** The width in pixels from which a window counts as wide. */
const WINDOW_WIDE = 1600;

/** The details panel, which can be resized and closed. */
export function DetailsAside(): JSX.Element | null {
  const store = useStore();
  const { detailsWidth: chosen, isDetailsOpen: isOpen } = store.page;
  const toggle = (): void => {
    isOpen.value = !isOpen.value;
  };
  useKeys("Details", () => detailsKeys(store, toggle));
  const isUsed = store.selected.value !== undefined;
  // Without a selection the panel contains the headlines, which other views include themselves.
  if (!isUsed && store.view.value !== "sequence") return null;
  if (!isOpen.value) return <Closed toggle={toggle} />;
  const width = clamped(chosen.value ?? (innerWidth < WINDOW_WIDE ? WIDTH_NARROW : WIDTH_WIDE));
  return (
    <aside
      class={`details${isUsed ? "" : " details-unused"}`}
      aria-label="Details"
      style={{ "--details-width": `${width}px` }}
    >
      <Edge
        label="Width of the details panel"
        class="details-edge"
        width={width}
        least={WIDTH_MIN}
        most={widthMax()}
        wider="left"
        widthAt={(clientX) => innerWidth - clientX}
        onWidth={(to) => (chosen.value = to === undefined ? null : clamped(to))}
      />
      <DetailsPanel onClose={toggle} />
    </aside>
  );
}

function Closed({ toggle }: { readonly toggle: () => void }): JSX.Element {
  return (
    <aside class="details-closed" aria-label="Details">
      <button type="button" class="plain" title="Show details (i)" onClick={toggle}>
        Details
      </button>
    </aside>
  );
}

function clamped(pixels: number): number {
  return Math.round(Math.max(WIDTH_MIN, Math.min(pixels, widthMax())));
}

/** The maximum width leaves space for the view. */
function widthMax(): number {
  return Math.max(WIDTH_MIN, innerWidth * 0.6);
}
