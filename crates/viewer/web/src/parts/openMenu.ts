// Context menus: their content and position.

import type { PageState } from "../state/page";

/** A line of a menu. */
export type MenuItem =
  | {
      readonly kind: "action";
      readonly label: string;
      /** Small text after the label: a key or an explanation. */
      readonly hint?: string;
      readonly run: () => void;
    }
  | { readonly kind: "heading"; readonly label: string }
  | { readonly kind: "separator" };

/** A position on the page, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A menu that is open. */
export interface OpenMenu {
  readonly items: readonly MenuItem[];
  readonly at: Point;
  /** The element that had the focus before, and gets it back when the menu closes. */
  readonly opener: HTMLElement | undefined;
}

/** A menu line that runs an action. */
export function action(label: string, run: () => void, hint?: string): MenuItem {
  return { kind: "action", label, run, ...(hint === undefined ? {} : { hint }) };
}

/**
 * Opens a menu at `at`. By default this is the position of the pointer, or, for a key event, below
 * the focused element. The default action of the event is prevented.
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

/** Closes the open menu and returns the focus to its opener. */
export function closeMenu({ menu }: PageState): void {
  const opener = menu.peek()?.opener;
  menu.value = undefined;
  opener?.focus({ preventScroll: true });
}

function pointOf(event: MouseEvent | KeyboardEvent): Point {
  // The menu key also creates a pointer event, but one without a button.
  const isPointer = event instanceof MouseEvent && (event.button !== 0 || event.detail > 0);
  if (isPointer) return { x: event.clientX, y: event.clientY };
  const target = event.currentTarget ?? event.target;
  if (!(target instanceof Element)) return { x: 0, y: 0 };
  const { left, bottom } = target.getBoundingClientRect();
  return { x: left, y: bottom };
}

/** The position at which a box of this size is completely visible. */
export function placed(at: Point, size: Size, room: Size): Point {
  const fit = (start: number, length: number, whole: number): number =>
    Math.max(MARGIN, Math.min(start, whole - length - MARGIN));
  return { x: fit(at.x, size.width, room.width), y: fit(at.y, size.height, room.height) };
}

/**
 * The next action from a line on in steps of 1 or -1, wrapping around at the ends; -1 if the menu
 * has no action.
 */
export function nextAction(items: readonly MenuItem[], from: number, step: 1 | -1): number {
  for (let distance = 1; distance <= items.length; distance++) {
    const place = (from + step * distance + items.length * (distance + 1)) % items.length;
    if (items[place]?.kind === "action") return place;
  }
  return -1;
}

/**
 * The next action after this line whose label begins with `start`; the line itself if there is
 * none.
 */
export function lineStartingWith(items: readonly MenuItem[], from: number, start: string): number {
  for (let distance = 1; distance <= items.length; distance++) {
    const place = (from + distance) % items.length;
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
