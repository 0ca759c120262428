// Submits a form with the Enter key.

/** Submits the form on Enter, except in a multi-line text, and always on Ctrl+Enter. */
export function submitOnEnter(event: KeyboardEvent): void {
  const { currentTarget: form, target, key, shiftKey, isComposing } = event;
  if (key !== "Enter" || shiftKey || isComposing || !(form instanceof HTMLFormElement)) return;
  const isForced = event.ctrlKey || event.metaKey;
  // The browser submits the form for single-line inputs.
  const isText = target instanceof HTMLTextAreaElement && target.dataset.lines !== MANY_LINES;
  if (!isForced && !isText) return;
  event.preventDefault();
  form.requestSubmit();
}

/** The value of `data-lines` for a text in which Enter begins a new line. */
export const MANY_LINES = "many";
