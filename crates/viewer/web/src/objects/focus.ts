// Arrow-key navigation between similar elements.

/** Moves the focus with the arrow keys between the elements of `list` that match `like`. */
export function moveFocus(event: KeyboardEvent, list: string, like: string): void {
  const step = STEPS[event.key];
  const here = event.currentTarget;
  if (step === undefined || !(here instanceof HTMLElement)) return;
  const all = [...(here.closest(list)?.querySelectorAll<HTMLElement>(like) ?? [])];
  const at = all.indexOf(here);
  const next = Math.min(all.length - 1, Math.max(0, at + step));
  event.preventDefault();
  all[next]?.focus();
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
