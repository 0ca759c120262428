// Saves a file through the browser.

/** Starts the download of a file with this name. */
export function download(name: string, file: Blob): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after this function has returned.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** How long the file stays available to the browser. */
const KEPT_MS = 60_000;
