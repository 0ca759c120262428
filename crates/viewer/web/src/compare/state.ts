// The state of the compare view. It is kept while another view is shown.

import { type ReadonlySignal, signal } from "@preact/signals";
import { NONE } from "../model/recording";
import type { Colors } from "../parts/colors";
import type { Scene } from "../sequence/model/scene";
import type { SequenceState } from "../sequence/state";
import type { Anchor, Subject } from "../sequence/subject";
import { numberOf, remembered } from "../state/storage";
import type { Span, Store } from "../state/store";
import type { Built, ComparedDiagram } from "./model/build";
import type { At } from "./model/steps";

/** The chosen sides and the settings of both diagrams. */
export class CompareState {
  /** The indices of the chosen sides. */
  readonly chosen = [signal(0), signal(1)] as const;
  readonly sequence: SequenceState = {
    down: signal("order"),
    grouping: signal("connection"),
    order: signal("appearance"),
    merging: signal({ merges: "nothing", expanded: new Set<string>() }),
    folding: signal({ folds: "nothing", unfolded: new Set<number>() }),
    timeStyle: signal("start"),
    reference: signal(undefined),
    textWidth: remembered<number | null>("compare-text-width", null, numberOf),
  };
}

/** The state of the compare view of a store. */
export function compareState(store: Store): CompareState {
  return store.part(CompareState, () => new CompareState());
}

/** One side of a comparison as the subject of a diagram. */
export class SideSubject implements Subject {
  constructor(
    private readonly store: Store,
    private readonly built: ReadonlySignal<Built | undefined>,
    readonly side: 0 | 1,
    readonly state: SequenceState,
  ) {}

  get colors(): ReadonlySignal<Colors> {
    return this.store.page.colors;
  }

  /** Both diagrams show the same range, and the first one determines it. */
  get anchor(): Anchor {
    return this.side === 0 ? "top" : "nothing";
  }

  watch(): void {
    void this.built.value;
  }

  scene(): Scene | undefined {
    return this.half?.scene;
  }

  selected(): number | undefined {
    const built = this.built.value;
    return built && selectedOn(this.store, built, this.side);
  }

  revealed(): number | undefined {
    const built = this.built.value;
    const at = built && selectedAt(this.store, built);
    return at?.side === this.side ? at.row : undefined;
  }

  select(scene: Scene, row: number): void {
    this.store.selectMessage(row + scene.recording.before - this.store.recording.peek().before);
  }

  span(): Span | undefined {
    return this.half?.span;
  }

  whole(): Span {
    return this.half?.whole ?? { from: 0, until: 1 };
  }

  private get half(): ComparedDiagram | undefined {
    return this.built.peek()?.halves[this.side];
  }
}

/** The selected message, if it belongs to one of the sides. */
export function selectedAt(store: Store, built: Built): At | undefined {
  const selected = store.selected.value;
  if (selected === undefined) return undefined;
  const { recording, halves } = built;
  const row = selected + store.recording.peek().before - recording.before;
  if (row < 0 || row >= recording.length) return undefined;
  const bus = recording.bus.get(row);
  const side = halves.findIndex(({ isOf }) => isOf[bus] === 1);
  return side === 0 || side === 1 ? { side, row } : undefined;
}

/** The selected message on a side, or the counterpart of the selected message there. */
export function selectedOn(store: Store, built: Built, side: 0 | 1): number | undefined {
  const at = selectedAt(store, built);
  if (at === undefined || at.side === side) return at?.row;
  const counterpart = built.counterparts[at.row] ?? NONE;
  return counterpart === NONE ? undefined : counterpart;
}
