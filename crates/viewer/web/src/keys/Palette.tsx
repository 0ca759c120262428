// The command palette, which finds all actions by words.

import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { count } from "../parts/format";
import { useStore } from "../state/context";
import type { PageState } from "../state/page";
import type { Store } from "../state/store";
import { type Command, commandsWith, messageNumber } from "./commands";
import { keyName } from "./keys";
import { useModal } from "./modal";

/** Opens the command palette. */
export function openPalette({ isPaletteOpen }: PageState): void {
  isPaletteOpen.value = true;
}

/** The command palette, if it is open. */
export function Palette(): JSX.Element | null {
  return useStore().page.isPaletteOpen.value ? <List /> : null;
}

function List(): JSX.Element {
  const store = useStore();
  const { close, ...attributes } = useModal(store.page.isPaletteOpen);
  const text = useSignal("");
  const marked = useSignal(0);
  const commands = [
    ...goTo(store, text.value),
    ...commandsWith(store.page.keyParts.value, text.value),
  ];
  const run = (command: Command | undefined, event: KeyboardEvent): void => {
    close();
    command?.run(event);
  };
  return (
    <dialog class="palette" aria-label="Command palette" {...attributes}>
      <Input
        text={text}
        marked={marked}
        length={commands.length}
        onEnter={(event) => run(commands[marked.value], event)}
      />
      <Commands commands={commands} marked={marked.value} onChoose={run} />
    </dialog>
  );
}

interface PaletteInputProps {
  readonly text: Signal<string>;
  /** The index of the highlighted command. */
  readonly marked: Signal<number>;
  /** The number of commands in the list. */
  readonly length: number;
  readonly onEnter: (event: KeyboardEvent) => void;
}

function Input({ text, marked, length, onEnter }: PaletteInputProps): JSX.Element {
  const mark = (step: number): void => {
    marked.value = length === 0 ? 0 : (marked.peek() + step + length) % length;
  };
  const steer = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") mark(1);
    else if (event.key === "ArrowUp") mark(-1);
    else if (event.key === "Enter") onEnter(event);
    else return;
    event.preventDefault();
  };
  return (
    <input
      class="palette-input"
      role="combobox"
      aria-label="Command or message number"
      aria-expanded="true"
      aria-controls="palette-list"
      aria-activedescendant={`palette-${marked.value}`}
      placeholder="Command or message number"
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value;
        marked.value = 0;
      }}
      onKeyDown={steer}
    />
  );
}

interface CommandsProps {
  readonly commands: readonly Command[];
  readonly marked: number;
  readonly onChoose: (command: Command, event: KeyboardEvent) => void;
}

function Commands({ commands, marked, onChoose }: CommandsProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    list.current?.children[marked]?.scrollIntoView({ block: "nearest" });
  }, [marked]);
  return (
    <div class="offers" id="palette-list" role="listbox" aria-label="Commands" ref={list}>
      {commands.map((command, place) => (
        <div
          key={`${command.part} ${command.about}`}
          id={`palette-${place}`}
          class="offer"
          role="option"
          aria-selected={place === marked}
          onClick={() => onChoose(command, new KeyboardEvent("keydown"))}
        >
          <span class="palette-about">
            <span class="note">{command.part}</span> {command.about}
          </span>
          {command.keys.map((key) => (
            <kbd key={key}>{keyName(key)}</kbd>
          ))}
        </div>
      ))}
    </div>
  );
}

/** A command that selects the message with the typed number, if it exists. */
function goTo(store: Store, text: string): readonly Command[] {
  const number = messageNumber(text);
  const recording = store.recording.peek();
  const row = number === undefined ? -1 : number - 1 - recording.before;
  if (number === undefined || row < 0 || row >= recording.length) return [];
  const run = (): void => store.selectMessage(row);
  return [{ part: "Go", about: `Go to message ${count(number)}`, keys: [], run }];
}
