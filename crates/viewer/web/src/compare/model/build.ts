// Computes both diagrams of a comparison in slices.

import type { Recording } from "../../model/recording";
import { inSlices } from "../../overview/slices";
import { fixedPlacement, type Scene } from "../../sequence/model/scene";
import { type Gathered, gather } from "../../sequence/model/slices";
import type { Alignment } from "../../state/comparison";
import type { Span } from "../../state/store";
import type { Visible } from "../../state/visible";
import type { Side } from "../sides";
import { type Aligned, align, type DifferenceTally } from "./alignment";
import { sharedColumns } from "./columns";
import { differenceOf, noteOf } from "./difference";
import { busesOf, type Counterparts, type Paired } from "./pairing";

/** The sides of a comparison and the visible part of them. */
export interface ComparisonRequest {
  readonly recording: Recording;
  readonly sides: readonly [Side, Side];
  readonly visible: Visible;
  readonly hidden: ReadonlySet<number>;
  readonly span: Span | undefined;
  readonly alignment: Alignment;
}

/** The data of one diagram. */
export interface ComparedDiagram {
  readonly scene: Scene;
  /** For each bus, 1 if it belongs to this side. */
  readonly isOf: Uint8Array;
  /** The selected time range on this side. */
  readonly span: Span | undefined;
  /** The time range that both sides need. */
  readonly whole: Span;
  readonly tally: DifferenceTally;
}

/** The data of both diagrams. */
export interface Built {
  readonly recording: Recording;
  readonly counterparts: Counterparts;
  readonly halves: readonly [ComparedDiagram, ComparedDiagram];
  /** The lines that contain a difference, in ascending order. */
  readonly different: readonly number[];
}

/** Computes both diagrams; undefined if aborted. */
export async function build(
  request: ComparisonRequest,
  paired: Paired,
  abort: AbortSignal,
): Promise<Built | undefined> {
  const { recording, alignment } = request;
  const times = timesOf(paired.extents, request);
  const before = await gatherSide(request, request.sides[0], times[0], abort);
  const after = await gatherSide(request, request.sides[1], times[1], abort);
  if (before === undefined || after === undefined) return undefined;
  const has = (row: number): boolean => request.visible.has(row);
  const shown = [before, after].map(({ rows }, side) => ({
    rows,
    origin: times[side as 0 | 1].origin,
    has: (row: number) => has(row) && isIn(times[side as 0 | 1].span, recording.at.get(row)),
  }));
  const [one, other] = shown as [(typeof shown)[0], (typeof shown)[0]];
  const aligned = await align(recording, [one, other], paired.counterparts, alignment, abort);
  return aligned && putTogether(request, paired, times, [before, after], aligned);
}

/** The time ranges of a side. */
export interface Times {
  /** The time that counts as zero. */
  readonly origin: number;
  readonly whole: Span;
  readonly span: Span | undefined;
}

/**
 * The time ranges of both sides. If each side begins with its first message, a time range on one
 * side is also applied to the other side, at the same distance from its first message.
 */
export function timesOf(
  extents: readonly [Span, Span],
  { alignment, span }: Pick<ComparisonRequest, "alignment" | "span">,
): readonly [Times, Times] {
  const [one, other] = extents;
  if (alignment === "clock") {
    const from = Math.min(one.from, other.from);
    const whole = { from, until: Math.max(one.until, other.until, from + 1) };
    return [
      { origin: 0, whole, span },
      { origin: 0, whole, span },
    ];
  }
  const length = Math.max(one.until - one.from, other.until - other.from, 1);
  const of = extents.find(({ from, until }) => span && span.from <= until && span.until > from);
  const times = ({ from }: Span): Times => ({
    origin: from,
    whole: { from, until: from + length },
    span: span && movedBy(span, of === undefined ? 0 : from - of.from),
  });
  return [times(one), times(other)];
}

function movedBy({ from, until }: Span, by: number): Span {
  return { from: from + by, until: until + by };
}

function isIn(span: Span | undefined, time: number): boolean {
  return span === undefined || (time >= span.from && time < span.until);
}

async function gatherSide(
  { recording, visible }: ComparisonRequest,
  side: Side,
  { span }: Times,
  abort: AbortSignal,
): Promise<Gathered | undefined> {
  const isOf = busesOf(side);
  const rows = new Uint32Array(visible.rows.length);
  let length = 0;
  const step = (from: number, to: number): void => {
    for (let place = from; place < to; place++) {
      const row = visible.rows[place] as number;
      // The visible rows can belong to a recording that had more messages.
      if (row >= recording.length || isOf[recording.bus.get(row)] !== 1) continue;
      if (isIn(span, recording.at.get(row))) rows[length++] = row;
    }
  };
  if (!(await inSlices(visible.rows.length, step, abort))) return undefined;
  return gather(recording, rows.subarray(0, length), abort);
}

function putTogether(
  { recording, sides, hidden }: ComparisonRequest,
  { counterparts }: Paired,
  times: readonly [Times, Times],
  gathered: readonly [Gathered, Gathered],
  { lines, different, tallies }: Aligned,
): Built {
  const sideTallies = [
    { side: sides[0], tally: gathered[0].tally },
    { side: sides[1], tally: gathered[1].tally },
  ] as const;
  const columns = sharedColumns(recording, sideTallies, hidden);
  const half = (place: 0 | 1): ComparedDiagram => {
    const { origin, span, whole } = times[place];
    const scene: Scene = {
      ...gathered[place],
      recording,
      lines: lines[place],
      columns: columns[place],
      placement: fixedPlacement(columns[place]),
      folding: NO_FOLDING,
      origin,
      noteOf: (row) => noteOf(differenceOf(recording, counterparts, row)),
    };
    return { scene, isOf: busesOf(sides[place]), span, whole, tally: tallies[place] };
  };
  return { recording, counterparts, halves: [half(0), half(1)], different };
}

const NO_FOLDING = { folds: "nothing", unfolded: new Set<number>() } as const;
