// Texts of messages cut to the room they have, each worked out once.

import type { Recording } from "../../model/recording";
import { drawable, ELLIPSIS, fitting } from "../model/text";
import type { Brush } from "./pen";
import type { Fonts } from "./theme";

/** A text and how wide it is. */
export interface Label {
  readonly text: string;
  readonly width: number;
}

/** Room for texts. */
export interface LabelRoom {
  /** Another one for each font and width, below 16. */
  readonly id: number;
  readonly font: string;
  readonly width: number;
}

/** Labels of one drawing, kept for the next ones. */
export class Labels {
  private readonly kept = new Map<number, Label>();
  private key = "";
  private strings: Recording | undefined;

  constructor(private readonly context: Pick<Brush, "font" | "measureText">) {}

  /** Forgets what is of another recording, or for other letters or another width. */
  begin(recording: Recording, fonts: Fonts, width: number): void {
    const key = `${fonts.plain} ${width}`;
    if (key === this.key && recording === this.strings && this.kept.size < KEPT_MAX) return;
    this.kept.clear();
    this.key = key;
    this.strings = recording;
  }

  /** A text of the recording by its place, cut to a room. */
  of(recording: Recording, place: number, room: LabelRoom): Label {
    const key = place * ROOMS + room.id;
    const kept = this.kept.get(key);
    if (kept !== undefined) return kept;
    const label = this.cut(recording.text(place), room.font, room.width);
    this.kept.set(key, label);
    return label;
  }

  /** An interface that stands before a member, and has the room that this leaves. */
  before(recording: Recording, face: number, place: number, member: Label, room: LabelRoom): Label {
    const key = -(face * PLACES + place) * ROOMS - room.id - 1;
    const kept = this.kept.get(key);
    if (kept !== undefined) return kept;
    const text = recording.text(face);
    const cut = this.cut(text === "" ? "" : `${text}.`, room.font, room.width - member.width);
    const label = cut.text === ELLIPSIS ? NOTHING : cut;
    this.kept.set(key, label);
    return label;
  }

  /** How wide a text is. */
  width(text: string, font: string): number {
    this.context.font = font;
    return this.context.measureText(text).width;
  }

  /** A text cut to a width, and not kept. */
  cut(text: string, font: string, width: number): Label {
    this.context.font = font;
    const measure = (part: string): number => this.context.measureText(part).width;
    const cut = fitting(measure, drawable(text), Math.max(0, width));
    return { text: cut, width: cut === "" ? 0 : measure(cut) };
  }
}

const NOTHING: Label = { text: "", width: 0 };
const ROOMS = 16;
const PLACES = 2 ** 24;
const KEPT_MAX = 50_000;
