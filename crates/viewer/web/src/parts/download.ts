// A file that the browser downloads.

/** Has the browser download a file of this name. */
export function download(name: string, file: Blob): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after this function has returned.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** So long a file is kept for the browser to read it. */
const KEPT_MS = 60_000;
