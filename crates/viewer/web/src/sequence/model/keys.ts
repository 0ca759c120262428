// What keys do in the diagram.

import type { Step } from "./navigate";

/** What can be done by a key. */
export type Command =
  | { readonly do: "step"; readonly step: Step }
  /** By so many lines. */
  | { readonly do: "pan"; readonly by: number }
  | { readonly do: "zoom"; readonly factor: number }
  | PlainCommand;

/** What needs no more to be said. */
export interface PlainCommand {
  readonly do:
    | "first"
    | "last"
    | "focus"
    | "fold"
    | "unfold"
    | "menu"
    | "clear"
    | "order-or-time"
    | "folding"
    | "time-style"
    | "pause";
}

/** A key as an event has it. */
export interface Press {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

const step = (to: Step): Command => ({ do: "step", step: to });

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["j", step("next")],
  ["ArrowDown", step("next")],
  ["k", step("previous")],
  ["ArrowUp", step("previous")],
  ["[", step("call")],
  ["]", step("reply")],
  ["Enter", step("partner")],
  ["n", step("next-like")],
  ["p", step("previous-like")],
  ["w", { do: "zoom", factor: 1.5 }],
  ["s", { do: "zoom", factor: 1 / 1.5 }],
  ["a", { do: "pan", by: -6 }],
  ["d", { do: "pan", by: 6 }],
  ["Home", { do: "first" }],
  ["End", { do: "last" }],
  ["f", { do: "focus" }],
  ["ArrowRight", { do: "unfold" }],
  ["ArrowLeft", { do: "fold" }],
  ["ContextMenu", { do: "menu" }],
  ["Escape", { do: "clear" }],
  ["t", { do: "order-or-time" }],
  ["z", { do: "folding" }],
  ["c", { do: "time-style" }],
  [" ", { do: "pause" }],
]);

/** What a key does; undefined if nothing, and for the keys of the browser. */
export function commandOf(press: Press): Command | undefined {
  if (press.ctrlKey || press.altKey || press.metaKey) return undefined;
  if (press.shiftKey && press.key === "F10") return { do: "menu" };
  return COMMANDS.get(press.key);
}
