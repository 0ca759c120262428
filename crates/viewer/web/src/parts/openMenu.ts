// Menus that open at a point: what is in them, and where they are.

import type { PageState } from "../state/page";

/** A line of a menu. */
export type MenuItem =
  | {
      readonly kind: "action";
      readonly label: string;
      /** Stands small behind the label: a key, or what the line is about. */
      readonly hint?: string;
      readonly run: () => void;
    }
  | { readonly kind: "heading"; readonly label: string }
  | { readonly kind: "separator" };

/** A place on the page, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A menu that is open. */
export interface OpenMenu {
  readonly items: readonly MenuItem[];
  readonly at: Point;
  /** What had the focus before, and gets it back. */
  readonly opener: HTMLElement | undefined;
}

/** A line that does something. */
export function action(label: string, run: () => void, hint?: string): MenuItem {
  return { kind: "action", label, run, ...(hint === undefined ? {} : { hint }) };
}

/**
 * Opens a menu at a point, or else where the pointer is, or under what has the focus if a key has
 * asked for it; what the event would do otherwise is not done.
 */
export function openMenu(
  { menu }: PageState,
  event: MouseEvent | KeyboardEvent,
  items: readonly MenuItem[],
  at: Point = pointOf(event),
): void {
  if (items.length === 0) return;
  event.preventDefault();
  event.stopPropagation();
  const focused = document.activeElement;
  menu.value = {
    items,
    at,
    opener: focused instanceof HTMLElement ? focused : undefined,
  };
}

/** Closes the menu that is open; what had the focus gets it back. */
export function closeMenu({ menu }: PageState): void {
  const opener = menu.peek()?.opener;
  menu.value = undefined;
  opener?.focus({ preventScroll: true });
}

function pointOf(event: MouseEvent | KeyboardEvent): Point {
  // The key for menus makes an event of the pointer too, one without a button.
  const isPointer = event instanceof MouseEvent && (event.button !== 0 || event.detail > 0);
  if (isPointer) return { x: event.clientX, y: event.clientY };
  const target = event.currentTarget ?? event.target;
  if (!(target instanceof Element)) return { x: 0, y: 0 };
  const { left, bottom } = target.getBoundingClientRect();
  return { x: left, y: bottom };
}

/** Where a box of this size is put so that all of it is seen. */
export function placed(at: Point, size: Size, room: Size): Point {
  const fit = (start: number, length: number, whole: number): number =>
    Math.max(MARGIN, Math.min(start, whole - length - MARGIN));
  return { x: fit(at.x, size.width, room.width), y: fit(at.y, size.height, room.height) };
}

/** The next line that does something, from a line on in steps of 1 or -1, around the ends. */
export function nextAction(items: readonly MenuItem[], from: number, step: 1 | -1): number {
  for (let turn = 1; turn <= items.length; turn++) {
    const place = (from + step * turn + items.length * (turn + 1)) % items.length;
    if (items[place]?.kind === "action") return place;
  }
  return -1;
}

/** The next line behind this one whose label begins so. */
export function lineStartingWith(items: readonly MenuItem[], from: number, start: string): number {
  for (let turn = 1; turn <= items.length; turn++) {
    const place = (from + turn) % items.length;
    const item = items[place];
    if (item?.kind === "action" && item.label.toLowerCase().startsWith(start)) return place;
  }
  return from;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const MARGIN = 4;
