// Copies text to the clipboard.

/**
 * Copies a text. If the browser does not offer the clipboard, as for a page from a file, it copies
 * a temporary selection instead.
 */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text);
  }
}

function copyBySelection(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr-only";
  document.body.append(area);
  const focused = document.activeElement;
  area.select();
  document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
}
