// Sending a form by Enter.

/** Sends the form of what has the focus, except by Enter in a text of several lines; by Ctrl+Enter always. */
export function submitOnEnter(event: KeyboardEvent): void {
  const { currentTarget: form, target, key, shiftKey, isComposing } = event;
  if (key !== "Enter" || shiftKey || isComposing || !(form instanceof HTMLFormElement)) return;
  const isForced = event.ctrlKey || event.metaKey;
  // Boxes of one line do it themselves.
  const isText = target instanceof HTMLTextAreaElement && target.dataset.lines !== MANY_LINES;
  if (!isForced && !isText) return;
  event.preventDefault();
  form.requestSubmit();
}

/** What `data-lines` of a text has in which Enter begins another line. */
export const MANY_LINES = "many";
