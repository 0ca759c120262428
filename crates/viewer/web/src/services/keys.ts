// Keyboard navigation between checkboxes.

/** Makes the arrow keys move the focus to the checkbox above or below. */
export function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const { target } = event;
  if (by === undefined || !(target instanceof HTMLInputElement)) return;
  const ticks = [...event.currentTarget.querySelectorAll<HTMLInputElement>(TICKS)];
  const next = ticks[Math.max(0, ticks.indexOf(target) + by)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

const TICKS = "input[type=checkbox]";
