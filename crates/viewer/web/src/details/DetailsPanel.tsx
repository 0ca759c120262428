import type { JSX } from "preact";

/** Everything about the selected message. */
export function DetailsPanel({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <button type="button" onClick={onClose}>
      Details
    </button>
  );
}
