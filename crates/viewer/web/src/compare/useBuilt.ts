// The data of both diagrams, which is computed again when the sides or the visible messages change.

import type { ReadonlySignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Recording } from "../model/recording";
import { useStore } from "../state/context";
import { restingRows, settledSelection, useFound } from "../statistics/queries";
import { type Built, build } from "./model/build";
import { type Paired, pairUp } from "./model/pairing";
import type { Side } from "./sides";

/** The data of both diagrams. The previous data stays while new data is computed. */
export function useBuilt(sideOf: (place: 0 | 1) => Side): ReadonlySignal<Built | undefined> {
  const store = useStore();
  const known = useRef<Known | undefined>(undefined);
  return useFound(async (abort) => {
    // On a live bus, the data is computed once per second.
    settledSelection(store).value;
    restingRows(store);
    const isWhole = store.isLive.value || store.progress.value.state !== "loading";
    const sides = [sideOf(0), sideOf(1)] as const;
    const { alignment } = store.comparison.value;
    const { hidden, span } = { hidden: store.hidden.value, span: store.span.value };
    const recording = store.recording.peek();
    const visible = store.visible.peek();
    if (!isWhole || recording.length === 0) return undefined;
    if (known.current === undefined || !isOf(known.current, recording, sides)) {
      const paired = await pairUp(recording, sides, abort);
      if (paired === undefined) return undefined;
      known.current = { paired, recording, sides };
    }
    const request = { recording, sides, visible, hidden, span, alignment };
    return build(request, known.current.paired, abort);
  });
}

/** The last pairing, which does not depend on filters. */
interface Known {
  readonly paired: Paired;
  readonly recording: Recording;
  readonly sides: readonly [Side, Side];
}

function isOf(known: Known, recording: Recording, sides: readonly [Side, Side]): boolean {
  if (known.recording !== recording) return false;
  if (known.paired.counterparts.length !== recording.length) return false;
  return known.sides.every(({ buses }, place) => String(buses) === String(sides[place]?.buses));
}
