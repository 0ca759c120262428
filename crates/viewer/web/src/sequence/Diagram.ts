// The diagram on its canvas: what is drawn, and when.

import { effect, type Signal, signal, untracked } from "@preact/signals";
import { NONE } from "../model/recording";
import { sinceStart } from "../parts/format";
import { lowerBound } from "../state/visible";
import {
  type Axis,
  clampScale,
  contentHeight,
  LINE,
  linesSeen,
  MARGIN,
  slotsSeen,
  timeAt,
  yOfRow,
} from "./model/axis";
import type { Columns } from "./model/columns";
import { type Geometry, geometryOf, xOf } from "./model/geometry";
import { type DiagramHit, hitAt } from "./model/hit";
import { EMPTY_SCENE, laneOf, placeOf, rowOfLine, type Scene } from "./model/scene";
import { draw } from "./paint/draw";
import { sideOf } from "./paint/edges";
import { Labels } from "./paint/labels";
import type { Box, Brush, FarEnd, Pen } from "./paint/pen";
import { type Theme, themeOf } from "./paint/theme";
import type { Subject } from "./subject";
import { Viewport } from "./Viewport";

/** The elements of the diagram. */
export interface Places {
  readonly canvas: HTMLCanvasElement;
  readonly scroller: HTMLElement;
  readonly spacer: HTMLElement;
}

/** Draws the diagram whenever something of it has changed, once a frame at most. */
export class Diagram {
  /** What is drawn; another one whenever the messages or the columns are others. */
  readonly scene: Signal<Scene>;
  /** Another number whenever another part is seen. */
  readonly moved = signal(0);
  readonly hovered = signal<number | undefined>(undefined);
  /** Where columns begin, of how many pixels, and the width of the times. */
  readonly divided = signal({ left: 0, time: 0, width: 0 });
  readonly viewport: Viewport;
  geometry: Geometry = geometryOf({ width: 0, height: 0, columns: 0, scrollX: 0 });
  axis: Axis = { is: "order" };
  /** Told when something else is seen since somebody has wished so, and not by following another one. */
  onLead: () => void = () => {};

  private readonly context: CanvasRenderingContext2D;
  private readonly labels: Labels;
  private theme: Theme;
  /** Pixels for each nanosecond where time goes down; as much as fits before it was chosen. */
  private scale = 0;
  private frame: number | undefined;
  private isStale = true;
  private revealed: number | undefined;
  private readonly endings: (() => void)[] = [];
  private readonly farEnds: FarEnd[] = [];
  private readonly taken: Box[] = [];
  private readonly longest = new WeakMap<Columns, number>();

  constructor(
    private readonly places: Places,
    readonly subject: Subject,
  ) {
    const context = places.canvas.getContext("2d", { alpha: false });
    if (context === null) throw new Error("this browser has no canvas");
    this.context = context;
    this.theme = themeOf(subject.colours.peek());
    this.labels = new Labels(context);
    this.scene = signal(untracked(() => subject.scene(undefined)) ?? EMPTY_SCENE);
    this.viewport = new Viewport(places.scroller, places.spacer, {
      moved: () => this.request(),
      led: () => this.onLead(),
    });
    this.watch();
  }

  /** Ends all that it has begun. */
  end(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    for (const end of this.endings) end();
    this.viewport.end();
  }

  /** Has it drawn with the next frame. */
  request(): void {
    this.frame ??= requestAnimationFrame(this.drawFrame);
  }

  /** What is at a place of the canvas. */
  hit(x: number, y: number): DiagramHit {
    const end = this.farEnds.find((box) => isIn(box, x, y));
    if (end !== undefined) return { is: "end", row: end.row, lane: end.lane };
    return hitAt(this.scene.value, this.geometry, this.axis, this.viewport.offset, x, y);
  }

  /** The selected message by its row in the scene. */
  get selected(): number | undefined {
    return this.subject.selected(this.scene.value);
  }

  /** Selects a message of the scene. */
  select(row: number): void {
    this.subject.select(this.scene.value, row);
  }

  /** Sees what another diagram does, whose drawing is as high, but further down by some pixels. */
  follow(other: Diagram, shift: number): void {
    if (this.axis.is !== other.axis.is) return;
    if (this.axis.is === "time" && this.scale !== other.scale) {
      this.scale = other.scale;
      this.axis = { ...this.axis, scale: other.scale };
      this.measure();
      this.request();
    }
    this.viewport.follow(other.viewport.offset + shift);
    this.viewport.followSideways(other.viewport.scrollX);
  }

  /** Has the scene be of what is shown now, without waiting for the next frame. */
  refresh(): void {
    if (this.isStale) this.renew();
    this.measure();
  }

  /** Draws a part of the diagram on something else than the screen. */
  drawOn(context: Brush, geometry: Geometry, offset: number): void {
    const labels = new Labels(context);
    labels.begin(this.scene.value.recording, this.theme.fonts, geometry.left);
    const { axis, theme } = this;
    const scene = this.scene.value;
    const { timeStyle } = this.subject.state;
    const { reference } = this;
    const own = { farEnds: [], hovered: NONE, taken: [], reference, timeStyle: timeStyle.value };
    draw({ context, labels, theme, scene, geometry, axis, offset, ...this.pointedOut(), ...own });
  }

  /** The room that the diagram has and needs, for a drawing of so many lanes that has what it needs. */
  roomFor(lanes: number): Geometry {
    const { gap, left, margin, time, width } = this.geometry;
    const needed = left + 2 * margin + (lanes + 1) * gap + OVER;
    return geometryOf({
      width: Math.max(width, needed),
      height: Number.POSITIVE_INFINITY,
      columns: lanes,
      scrollX: 0,
      text: left - time,
      time,
      longest: this.longestName(this.scene.value.columns),
    });
  }

  /** The row that is at the top; undefined if there is none. */
  firstSeen(): number | undefined {
    const scene = this.scene.value;
    const top = this.viewport.offset;
    const { axis } = this;
    if (axis.is === "order") {
      const { start } = linesSeen(scene, top + LINE / 2, top + this.viewport.view);
      return scene.rows[scene.lines.first[start] ?? scene.rows.length];
    }
    const { start, end } = slotsSeen(scene, axis, top, top + this.viewport.view);
    return start < end ? scene.rows[scene.clock.places[start] as number] : undefined;
  }

  /** The first message of each line that is seen; where time goes down the first ones. */
  seenRows(): number[] {
    const scene = this.scene.value;
    const { axis } = this;
    const top = this.viewport.offset;
    const bottom = top + this.viewport.view;
    if (axis.is === "order") {
      const { start, end } = linesSeen(scene, top, bottom);
      const rows = Array.from({ length: end - start }, (_, at) => rowOfLine(scene, start + at));
      return rows.filter((row) => row !== undefined);
    }
    const { start, end } = slotsSeen(scene, axis, top, bottom);
    const places = scene.clock.places.slice(start, Math.min(end, start + SEEN_MAX));
    return Array.from(places, (place) => scene.rows[place] as number);
  }

  /** Moves so that a message is seen, if it is shown. */
  private reveal(row: number): void {
    if (placeOf(this.scene.value, row) === undefined) return;
    const y = yOfRow(this.scene.value, this.axis, row);
    if (y !== undefined) this.viewport.reveal(y - LINE / 2, y + LINE / 2);
    this.revealed = undefined;
    this.revealColumns(row);
  }

  /** Moves sideways so that one end of a message is seen at least, if none is. */
  private revealColumns(row: number): void {
    const { geometry } = this;
    const lanes = this.lanesOf(row);
    const [first] = lanes;
    if (first === undefined || lanes.some((lane) => sideOf(geometry, lane) === undefined)) return;
    this.showLane(first);
  }

  /** Moves sideways so that a lane is seen, and one beside it if there is room for both. */
  showLane(lane: number, other = lane): void {
    const { geometry, viewport } = this;
    const [x, beside] = [xOf(geometry, lane), xOf(geometry, other)];
    const isRoom = Math.abs(x - beside) < geometry.width - geometry.left - 2 * BESIDE;
    const middle = isRoom ? (x + beside) / 2 : x;
    const by = middle - (geometry.left + geometry.width) / 2;
    viewport.moveSideways(Math.max(0, viewport.scrollX + by));
  }

  /** Moves sideways to the end of a message that is not seen; if both are, to the recipient. */
  showFarEnd(row: number): void {
    const lanes = this.lanesOf(row);
    const far = lanes.find((lane) => sideOf(this.geometry, lane) !== undefined) ?? lanes.at(-1);
    if (far !== undefined) this.showLane(far, lanes.find((lane) => lane !== far) ?? far);
  }

  /** The lanes of the ends of a message: of its sender, then of its recipients. */
  lanesOf(row: number): number[] {
    const scene = this.scene.value;
    const { recording } = scene;
    const peers = [recording.from.get(row), recording.to.get(row), ...recording.recipientsOf(row)];
    const lanes = peers.map((peer) => laneOf(scene, this.axis, peer, row));
    return [...new Set(lanes.filter((lane) => lane !== NONE))];
  }

  /** Sees columns further to the right, or to the left. */
  panColumns(columns: number): void {
    const { geometry, viewport } = this;
    viewport.moveSideways(Math.max(0, viewport.scrollX + columns * geometry.gap));
  }

  /** Moves so that a message is in the middle; where time goes down, with its call and reply. */
  focus(row: number): void {
    const { recording } = this.scene.value;
    const length = recording.durationOf(row);
    const partner = recording.partnerOf(row);
    if (this.axis.is === "time" && length !== undefined && length > 0) {
      this.setScale(this.viewport.view / 2 / length);
    }
    const y = yOfRow(this.scene.value, this.axis, row);
    const other = partner === NONE ? y : yOfRow(this.scene.value, this.axis, partner);
    if (y === undefined) return;
    const isBothInView = other !== undefined && Math.abs(other - y) < this.viewport.view - LINE;
    this.viewport.moveTo((isBothInView ? (y + other) / 2 : y) - this.viewport.view / 2);
  }

  /** Makes time larger or smaller around a height of the canvas; only where time goes down. */
  zoom(factor: number, around: number): void {
    if (this.axis.is !== "time") return;
    const y = around - this.geometry.head;
    const time = timeAt(this.axis, this.viewport.offset + y);
    this.setScale(this.scale * factor);
    this.viewport.moveTo((time - this.axis.from) * this.scale + MARGIN - y);
  }

  /** Sees more or fewer lines further down. */
  pan(lines: number): void {
    this.viewport.moveTo(this.viewport.offset + lines * LINE);
  }

  /** The stretch of time that is seen; undefined where time does not go down. */
  seenTime(): { readonly from: number; readonly until: number } | undefined {
    if (this.axis.is !== "time") return undefined;
    const top = timeAt(this.axis, this.viewport.offset);
    const bottom = timeAt(this.axis, this.viewport.offset + this.viewport.view);
    return { from: Math.max(top, this.axis.from), until: Math.min(bottom, this.axis.until) };
  }

  private watch(): void {
    const { subject } = this;
    this.endings.push(
      effect(() => {
        this.theme = themeOf(subject.colours.value);
        this.request();
      }),
      effect(() => {
        subject.watch();
        this.isStale = true;
        this.request();
      }),
      effect(() => {
        const down = subject.state.down.value;
        untracked(() => this.switchAxis(down));
      }),
      effect(() => {
        this.revealed = subject.revealed(this.scene.peek());
        this.request();
      }),
      effect(() => {
        const { reference, timeStyle, textWidth } = subject.state;
        void [this.hovered.value, reference.value, timeStyle.value, textWidth.value];
        void subject.hits?.(this.scene.value);
        this.request();
      }),
    );
  }

  private readonly drawFrame = (): void => {
    this.frame = undefined;
    if (this.isStale) this.renew();
    this.measure();
    if (this.revealed !== undefined) this.reveal(this.revealed);
    this.labels.begin(this.scene.value.recording, this.theme.fonts, this.geometry.left);
    draw({
      context: this.context,
      labels: this.labels,
      theme: this.theme,
      scene: this.scene.value,
      geometry: this.geometry,
      axis: this.axis,
      offset: this.viewport.offset,
      ...this.pointedOut(),
      timeStyle: this.subject.state.timeStyle.value,
      reference: this.reference,
      farEnds: this.farEnds,
      taken: this.taken,
    });
    // The drawing asks for no other one by moving while it is made.
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.frame = undefined;
    this.moved.value++;
  };

  /** The row of the message from which times are told; {@link NONE} if there is none. */
  private get reference(): number {
    const { recording } = this.scene.value;
    const row = (this.subject.state.reference.value ?? 0) - 1 - recording.before;
    return row >= 0 && row < recording.length ? row : NONE;
  }

  private pointedOut(): Pick<Pen, "selected" | "partner" | "hovered" | "hits"> {
    const { recording } = this.scene.value;
    const selected = this.selected ?? NONE;
    const isThere = selected < recording.length;
    return {
      selected: isThere ? selected : NONE,
      partner: isThere ? recording.partnerOf(selected) : NONE,
      hovered: this.hovered.value ?? NONE,
      hits: this.subject.hits?.(this.scene.value) ?? NO_HITS,
    };
  }

  /** Makes the scene anew, if it is known; what it is anchored to stays there. */
  private renew(): void {
    const last = this.scene.value;
    const scene = this.subject.scene(last === EMPTY_SCENE ? undefined : last);
    if (scene === undefined) return;
    this.isStale = false;
    const row = this.firstSeen();
    const y = row === undefined ? undefined : yOfRow(last, this.axis, row);
    const { anchor } = this.subject;
    const isAtEnd = anchor === "end" && this.viewport.isAtEnd;
    this.scene.value = scene;
    this.setAxis();
    this.measure();
    if (isAtEnd) this.viewport.moveToEnd();
    else if (anchor !== "nothing" && row !== undefined && y !== undefined) this.keep(row, y);
  }

  /** Moves so that a message, or the one after it, is where it was. */
  private keep(row: number, y: number): void {
    const { rows } = this.scene.value;
    const next = rows[Math.min(lowerBound(rows, row), rows.length - 1)];
    const now = next === undefined ? undefined : yOfRow(this.scene.value, this.axis, next);
    if (now !== undefined && now !== y) this.viewport.moveTo(this.viewport.offset + now - y);
  }

  private switchAxis(to: Axis["is"]): void {
    if (to === this.axis.is) return;
    const scene = this.scene.peek();
    const first = this.firstSeen();
    if (to === "time") {
      const length = this.seenLength();
      this.axis = { is: "time", from: 0, until: 1, scale: 1 };
      this.setAxis();
      this.setScale(length === 0 ? 0 : (this.viewport.view - 2 * MARGIN) / length);
    } else this.axis = { is: "order" };
    this.measure();
    const y = first === undefined ? undefined : yOfRow(scene, this.axis, first);
    if (y !== undefined && this.subject.anchor !== "nothing") this.viewport.moveTo(y - MARGIN);
    this.request();
  }

  /** The time between the first and the last message that are seen; only where each has a line. */
  private seenLength(): number {
    const { at } = this.scene.peek().recording;
    const rows = this.seenRows();
    const [first = 0, last = first] = [rows[0], rows.at(-1)];
    return rows.length < 2 ? 0 : Math.max(1, at.get(last) - at.get(first));
  }

  private setScale(scale: number): void {
    if (this.axis.is !== "time") return;
    const { from, until } = this.axis;
    this.scale = clampScale(scale, until - from, this.viewport.view);
    this.axis = { ...this.axis, scale: this.scale };
    this.measure();
    this.request();
  }

  /** Fits time to what is looked at, if that has become something else. */
  private setAxis(): void {
    if (this.axis.is !== "time") return;
    const span = this.subject.span();
    const { from, until } = span ?? this.subject.whole(this.scene.peek());
    const isOther = span !== undefined && (from !== this.axis.from || until !== this.axis.until);
    this.axis = { ...this.axis, from, until };
    if (isOther) this.setScale(0);
  }

  /** Divides the room, and has as many pixels as the screen. */
  private measure(): void {
    const { canvas } = this.places;
    const { width, height } = this.viewport.room;
    const ratio = devicePixelRatio;
    if (
      canvas.width !== Math.round(width * ratio) ||
      canvas.height !== Math.round(height * ratio)
    ) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scene = this.scene.value;
    const { count: columns, usual } = scene.placement.lanes(this.axis.is);
    this.geometry = geometryOf({
      width,
      height,
      columns,
      usual,
      scrollX: this.viewport.scrollX,
      text: this.subject.state.textWidth.value ?? undefined,
      time: this.timeWidth(),
      longest: this.longestName(scene.columns),
    });
    const { content, head, left, time } = this.geometry;
    const divided = this.divided.peek();
    if (divided.left !== left || divided.width !== width || divided.time !== time) {
      this.divided.value = { left, time, width };
    }
    const view = Math.max(0, height - head);
    this.viewport.resize(content, contentHeight(scene, this.axis), view, head);
  }

  /** The width that the longest time needs, with what is beside it. */
  private timeWidth(): number {
    const { timeStyle } = this.subject.state;
    const { recording } = this.scene.value;
    const since = `${this.reference === NONE ? "" : "−"}${sinceStart(recording.end)}`;
    const text = timeStyle.value === "wall" ? WIDE_TIME : since;
    return this.labels.width(`↑ ${text}`, this.theme.fonts.small) + TIME_AROUND;
  }

  /** The width of the longest name of a column, of those that are looked at for it. */
  private longestName(columns: Columns): number {
    const known = this.longest.get(columns);
    if (known !== undefined) return known;
    const { head } = this.theme.fonts;
    const some = columns.all.slice(0, NAMES_MAX);
    const width = Math.max(0, ...some.map(({ label }) => this.labels.cut(label, head, 1e4).width));
    this.longest.set(columns, width);
    return width;
  }
}

function isIn(box: Box, x: number, y: number): boolean {
  return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
}

/** The widest time of day. */
const WIDE_TIME = "20:00:00.000000";
/** Pixels beside times. */
const TIME_AROUND = 16;
/** Pixels that the last name of a picture may reach over its column. */
const OVER = 200;
/** Columns of which the names are measured. */
const NAMES_MAX = 200;
/** Pixels that are seen beside a column that is moved to. */
const BESIDE = 40;

/** Messages that are told of to those who cannot see them. */
const SEEN_MAX = 100;

const NO_HITS = new Uint32Array();
