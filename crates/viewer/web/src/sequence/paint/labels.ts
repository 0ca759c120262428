// Texts of messages shortened to their widths, each computed once.

import type { Recording } from "../../model/recording";
import { drawable, ELLIPSIS, fitting } from "../model/text";
import type { Brush } from "./pen";
import type { Fonts } from "./theme";

/** A text with its width. */
export interface Label {
  readonly text: string;
  readonly width: number;
}

/** The available width and the font of texts. */
export interface LabelRoom {
  /** Unique for each font and width, below 16. */
  readonly id: number;
  readonly font: string;
  readonly width: number;
}

/** Labels of one drawing, cached for the next ones. */
export class Labels {
  private readonly kept = new Map<number, Label>();
  private key = "";
  private strings: Recording | undefined;

  constructor(private readonly context: Pick<Brush, "font" | "measureText">) {}

  /** Clears labels of another recording, of another font or for another width. */
  begin(recording: Recording, fonts: Fonts, width: number): void {
    const key = `${fonts.plain} ${width}`;
    if (key === this.key && recording === this.strings && this.kept.size < KEPT_MAX) return;
    this.kept.clear();
    this.key = key;
    this.strings = recording;
  }

  /** A text of the recording by its index, shortened to a width. */
  of(recording: Recording, place: number, room: LabelRoom): Label {
    const key = place * ROOMS + room.id;
    const kept = this.kept.get(key);
    if (kept !== undefined) return kept;
    const label = this.cut(recording.text(place), room.font, room.width);
    this.kept.set(key, label);
    return label;
  }

  /** An interface before a member, shortened to the width that the member leaves. */
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

  /** The width of a text. */
  width(text: string, font: string): number {
    this.context.font = font;
    return this.context.measureText(text).width;
  }

  /** Shortens a text without caching it. */
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
