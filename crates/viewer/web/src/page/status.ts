// The status of the recording or live bus, as the header shows it.

import type { Store } from "../state/store";

/** A status in one or two words, with an explanation for the tooltip. */
export interface Status {
  readonly state: "loading" | "whole" | "incomplete" | "live" | "ended" | "disconnected" | "failed";
  readonly words: string;
  readonly about: string;
}

/** The current status of the recording or live bus. */
export function statusOf({ progress, incomplete }: Pick<Store, "progress" | "incomplete">): Status {
  const now = progress.value;
  const missing = incomplete.value;
  switch (now.state) {
    case "loading":
      return { state: "loading", words: "loading…", about: "The recording is being read." };
    case "live":
      return { state: "live", words: "live", about: "The bus is being watched." };
    case "ended":
      return { state: "ended", words: `ended: ${now.why}`, about: "No more messages will arrive." };
    case "disconnected":
      return { state: "disconnected", words: "disconnected", about: now.why };
    case "failed":
      return { state: "failed", words: now.why, about: now.why };
    case "whole":
      if (missing === undefined) return { state: "whole", words: "loaded", about: "" };
      if (missing.length === 0) {
        return { state: "whole", words: "complete", about: "No message is known to be missing." };
      }
      return { state: "incomplete", words: "incomplete", about: missing.join("; ") };
  }
}
