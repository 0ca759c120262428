// Synchronized scrolling and zooming of two diagrams.

import { effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import type { Diagram } from "../sequence/Diagram";
import type { Interaction } from "../sequence/Interaction";
import { yOfRow } from "../sequence/model/axis";
import { lineOfRow, placeOf, type Scene } from "../sequence/model/scene";
import type { Store } from "../state/store";
import type { Built } from "./model/build";
import { type At, stepDifferent, stepLine } from "./model/steps";
import { selectedAt } from "./state";

/**
 * Keeps two diagrams at the same vertical position. If a selected message and its counterpart are
 * too far apart to be visible together, one diagram is shifted until another message is selected.
 */
export class Linked {
  /** The number of pixels by which the second diagram is further down than the first. */
  readonly shift = signal(0);
  private leader: 0 | 1 = 0;
  /** True until the position of the selected message's counterpart has been checked. */
  private isPending = false;
  private readonly endings: (() => void)[];

  constructor(
    readonly interactions: readonly [Interaction, Interaction],
    private readonly store: Store,
    private readonly built: ReadonlySignal<Built | undefined>,
  ) {
    for (const side of [0, 1] as const) this.diagram(side).onLead = () => this.setLeader(side);
    this.endings = [
      effect(() => {
        void [store.selected.value, built.value];
        this.isPending = true;
      }),
      ...([0, 1] as const).map((side) =>
        effect(() => {
          this.diagram(side).moved.value;
          untracked(() => this.onDrawn(side));
        }),
      ),
    ];
  }

  /** Disconnects the diagrams from each other. */
  end(): void {
    for (const end of this.endings) end();
    for (const side of [0, 1] as const) this.diagram(side).onLead = () => {};
  }

  /** The diagram that contains the selected message, or else the first one. */
  active(): Interaction {
    return this.interactions[this.selected()?.side ?? 0];
  }

  /** Selects the message in the line below or above, on either side. */
  step(by: 1 | -1): void {
    const at = this.selected();
    this.select(at === undefined ? this.firstSeen() : stepLine(this.scenes(), at, by));
  }

  /** Selects the next or the previous difference. */
  stepDifferent(by: 1 | -1): void {
    const different = this.built.peek()?.different ?? [];
    this.select(stepDifferent(this.scenes(), different, this.lineBefore(by), by));
  }

  /** Selects the counterpart of the selected message on the given side. */
  cross(to: 0 | 1): void {
    const diagram = this.diagram(to);
    const row = diagram.selected;
    if (row !== undefined) diagram.select(row);
  }

  /** Removes the shift between the diagrams. */
  straighten(): void {
    this.shift.value = 0;
    this.align();
  }

  private diagram(side: 0 | 1): Diagram {
    return this.interactions[side].diagram;
  }

  private scenes(): readonly [Scene, Scene] {
    return [this.diagram(0).scene.peek(), this.diagram(1).scene.peek()];
  }

  private selected(): At | undefined {
    const built = this.built.peek();
    return built && untracked(() => selectedAt(this.store, built));
  }

  private select(at: At | undefined): void {
    if (at !== undefined) this.diagram(at.side).select(at.row);
  }

  private firstSeen(): At | undefined {
    for (const side of [this.leader, this.leader === 0 ? 1 : 0] as const) {
      const row = this.diagram(side).firstSeen();
      if (row !== undefined) return { side, row };
    }
    return undefined;
  }

  /**
   * The line from which a step begins: the line of the selected message, or else a line just
   * outside of the visible ones.
   */
  private lineBefore(by: 1 | -1): number {
    const at = this.selected();
    const selected = at && lineOfRow(this.scenes()[at.side], at.row);
    if (selected !== undefined) return selected;
    const visible = this.firstSeen();
    const first = visible && lineOfRow(this.scenes()[visible.side], visible.row);
    return (first ?? 0) - by;
  }

  private setLeader(side: 0 | 1): void {
    this.leader = side;
    this.align();
  }

  private align(): void {
    const { leader } = this;
    const shift = leader === 0 ? this.shift.peek() : -this.shift.peek();
    this.diagram(leader === 0 ? 1 : 0).follow(this.diagram(leader), shift);
  }

  /** After a diagram is drawn, makes the counterpart of a newly selected message visible. */
  private onDrawn(side: 0 | 1): void {
    const at = this.selected();
    if (this.isPending && (at === undefined || at.side === side)) this.showCounterpart(at);
    this.align();
  }

  /**
   * Shifts the other diagram so that the counterpart is next to the selected message, unless it is
   * visible.
   */
  private showCounterpart(at: At | undefined): void {
    const heights = [this.heightOn(0), this.heightOn(1)] as const;
    if (at !== undefined && heights[at.side] === undefined) return;
    this.isPending = false;
    const [one, other] = heights;
    if (at === undefined || one === undefined || other === undefined) this.shift.value = 0;
    else {
      const { offset, view } = this.diagram(at.side).viewport;
      const down = heights[at.side === 0 ? 1 : 0] as number;
      const isSeen = down >= offset && down <= offset + view;
      this.shift.value = isSeen ? 0 : other - one;
      this.leader = at.side;
    }
  }

  private heightOn(side: 0 | 1): number | undefined {
    const diagram = this.diagram(side);
    const scene = diagram.scene.peek();
    const row = untracked(() => diagram.selected);
    if (row === undefined || placeOf(scene, row) === undefined) return undefined;
    return yOfRow(scene, diagram.axis, row);
  }
}
