// The sequence diagram on its canvas: the scene, and when it is drawn.

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

/** Draws the diagram after each change, at most once per frame. */
export class Diagram {
  /** The drawn scene. It is replaced when the messages or the columns change. */
  readonly scene: Signal<Scene>;
  /** Changes when the diagram is scrolled. */
  readonly moved = signal(0);
  readonly hovered = signal<number | undefined>(undefined);
  /** The start of the columns, the width of the columns and the width of the times, in pixels. */
  readonly divided = signal({ left: 0, time: 0, width: 0 });
  readonly viewport: Viewport;
  geometry: Geometry = geometryOf({ width: 0, height: 0, columns: 0, scrollX: 0 });
  axis: Axis = { is: "order" };
  /** Called when the user scrolls this diagram, but not when it follows another one. */
  onLead: () => void = () => {};

  private readonly context: CanvasRenderingContext2D;
  private readonly labels: Labels;
  private theme: Theme;
  /** Pixels per nanosecond on a linear time axis. Initially the whole time fits. */
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
    this.theme = themeOf(subject.colors.peek());
    this.labels = new Labels(context);
    this.scene = signal(untracked(() => subject.scene(undefined)) ?? EMPTY_SCENE);
    this.viewport = new Viewport(places.scroller, places.spacer, {
      moved: () => this.request(),
      led: () => this.onLead(),
    });
    this.watch();
  }

  /** Releases all resources and listeners. */
  end(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    for (const end of this.endings) end();
    this.viewport.end();
  }

  /** Requests drawing in the next frame. */
  request(): void {
    this.frame ??= requestAnimationFrame(this.drawFrame);
  }

  /** The object at a position of the canvas. */
  hit(x: number, y: number): DiagramHit {
    const end = this.farEnds.find((box) => isIn(box, x, y));
    if (end !== undefined) return { is: "end", row: end.row, lane: end.lane };
    return hitAt(this.scene.value, this.geometry, this.axis, this.viewport.offset, x, y);
  }

  /** The row of the selected message in the scene. */
  get selected(): number | undefined {
    return this.subject.selected(this.scene.value);
  }

  /** Selects a message of the scene. */
  select(row: number): void {
    this.subject.select(this.scene.value, row);
  }

  /** Scrolls like another diagram, whose content is lower by some pixels. */
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

  /** Updates the scene immediately, without waiting for the next frame. */
  refresh(): void {
    if (this.isStale) this.renew();
    this.measure();
  }

  /** Draws a part of the diagram on another context than the screen. */
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

  /** The geometry for a drawing of this many lanes with all the space that it needs. */
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

  /** The row at the top; undefined if there is none. */
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

  /** The first message of each visible line; on a linear time axis, the first visible messages. */
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

  /** Scrolls a message into view, if it is displayed. */
  private reveal(row: number): void {
    if (placeOf(this.scene.value, row) === undefined) return;
    const y = yOfRow(this.scene.value, this.axis, row);
    if (y !== undefined) this.viewport.reveal(y - LINE / 2, y + LINE / 2);
    this.revealed = undefined;
    this.revealColumns(row);
  }

  /** Scrolls horizontally until at least one end of a message is visible. */
  private revealColumns(row: number): void {
    const { geometry } = this;
    const lanes = this.lanesOf(row);
    const [first] = lanes;
    if (first === undefined || lanes.some((lane) => sideOf(geometry, lane) === undefined)) return;
    this.showLane(first);
  }

  /** Scrolls horizontally until a lane is visible, and a second one if both fit. */
  showLane(lane: number, other = lane): void {
    const { geometry, viewport } = this;
    const [x, beside] = [xOf(geometry, lane), xOf(geometry, other)];
    const isRoom = Math.abs(x - beside) < geometry.width - geometry.left - 2 * BESIDE;
    const middle = isRoom ? (x + beside) / 2 : x;
    const by = middle - (geometry.left + geometry.width) / 2;
    viewport.moveSideways(Math.max(0, viewport.scrollX + by));
  }

  /**
   * Scrolls horizontally to the invisible end of a message; if both are invisible, to the
   * recipient.
   */
  showFarEnd(row: number): void {
    const lanes = this.lanesOf(row);
    const far = lanes.find((lane) => sideOf(this.geometry, lane) !== undefined) ?? lanes.at(-1);
    if (far !== undefined) this.showLane(far, lanes.find((lane) => lane !== far) ?? far);
  }

  /** The lanes of a message: of its sender, then of its recipients. */
  lanesOf(row: number): number[] {
    const scene = this.scene.value;
    const { recording } = scene;
    const peers = [recording.from.get(row), recording.to.get(row), ...recording.recipientsOf(row)];
    const lanes = peers.map((peer) => laneOf(scene, this.axis, peer, row));
    return [...new Set(lanes.filter((lane) => lane !== NONE))];
  }

  /** Scrolls by columns to the right, or to the left. */
  panColumns(columns: number): void {
    const { geometry, viewport } = this;
    viewport.moveSideways(Math.max(0, viewport.scrollX + columns * geometry.gap));
  }

  /** Scrolls a message to the center; on a linear time axis, with its call and reply. */
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

  /** Zooms a linear time axis around a vertical position of the canvas. */
  zoom(factor: number, around: number): void {
    if (this.axis.is !== "time") return;
    const y = around - this.geometry.head;
    const time = timeAt(this.axis, this.viewport.offset + y);
    this.setScale(this.scale * factor);
    this.viewport.moveTo((time - this.axis.from) * this.scale + MARGIN - y);
  }

  /** Scrolls vertically by lines. */
  pan(lines: number): void {
    this.viewport.moveTo(this.viewport.offset + lines * LINE);
  }

  /** The visible time range; undefined without a linear time axis. */
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
        this.theme = themeOf(subject.colors.value);
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
    // Scrolling while drawing must not request another frame.
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.frame = undefined;
    this.moved.value++;
  };

  /** The row of the time reference message; {@link NONE} if there is none. */
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

  /** Rebuilds the scene, and keeps the anchor message at its position. */
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

  /** Scrolls so that a message, or the next one, stays at its position. */
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

  /**
   * The time between the first and the last visible message; only if each message has its own line.
   */
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

  /** Adjusts the time axis to the displayed messages if they have changed. */
  private setAxis(): void {
    if (this.axis.is !== "time") return;
    const span = this.subject.span();
    const { from, until } = span ?? this.subject.whole(this.scene.peek());
    const isOther = span !== undefined && (from !== this.axis.from || until !== this.axis.until);
    this.axis = { ...this.axis, from, until };
    if (isOther) this.setScale(0);
  }

  /** Divides the width, and adjusts the canvas to the resolution of the screen. */
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

  /** The width that the longest time needs, with its padding. */
  private timeWidth(): number {
    const { timeStyle } = this.subject.state;
    const { recording } = this.scene.value;
    const since = `${this.reference === NONE ? "" : "−"}${sinceStart(recording.end)}`;
    const text = timeStyle.value === "wall" ? WIDE_TIME : since;
    return this.labels.width(`↑ ${text}`, this.theme.fonts.small) + TIME_AROUND;
  }

  /** The width of the longest column name among those that are measured. */
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
/** Padding of times, in pixels. */
const TIME_AROUND = 16;
/** Pixels that the last name of a picture may exceed its column. */
const OVER = 200;
/** Number of columns whose names are measured. */
const NAMES_MAX = 200;
/** Pixels that stay visible beside a column when the diagram scrolls to it. */
const BESIDE = 40;

/** Maximum number of messages in the table for screen readers. */
const SEEN_MAX = 100;

const NO_HITS = new Uint32Array();
