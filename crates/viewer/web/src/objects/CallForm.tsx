// The form to call a method, and the outcome of the call.

import type { JSX } from "preact";
import type { CallCommands, Method, ValueType } from "../generated/protocol";
import { copyText } from "../parts/copy";
import { counted } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import { sentence as asSentence } from "../query/errorExcerpt";
import { MarkedPlace } from "../query/MarkedPlace";
import { useStore } from "../state/context";
import type { BusClient } from "./bus";
import { type CallDraft, REPEAT_MAX } from "./callDraft";
import { FieldInput, VariantTypes } from "./FieldInput";
import { Outcome } from "./Outcome";
import type { Session } from "./session";
import { submitOnEnter } from "./submit";
import type { TextRead } from "./textEntry";

interface FormProps {
  readonly method: Method;
  readonly draft: CallDraft;
  readonly session: Session;
}

export function CallForm({ method, draft, session }: FormProps): JSX.Element {
  const { bus } = useStore();
  const make = (event: Event): void => {
    event.preventDefault();
    if (bus.value !== "call") return;
    void draft.make((call, answer, durations) => session.remember(draft, call, answer, durations));
  };
  if (draft.types === undefined) {
    return (
      <p class="banner">The object declares an invalid type, so the method cannot be called.</p>
    );
  }
  return (
    <form class="objects-call" onSubmit={make} onKeyDown={submitOnEnter}>
      <VariantTypes types={session.client.types} />
      {draft.entry.value === "text" ? (
        <TextInput draft={draft} />
      ) : (
        draft.types.map((type, place) => (
          <ArgumentLine
            key={place}
            draft={draft}
            place={place}
            type={type}
            client={session.client}
            name={method.arguments[place]?.name ?? `argument ${place + 1}`}
          />
        ))
      )}
      <Buttons draft={draft} client={session.client} />
      <Progress method={method} draft={draft} />
    </form>
  );
}

interface ArgumentLineProps {
  readonly draft: CallDraft;
  readonly place: number;
  readonly type: ValueType;
  readonly client: BusClient;
  readonly name: string;
}

function ArgumentLine({ draft, place, type, client, name }: ArgumentLineProps): JSX.Element | null {
  const field = draft.fields.value[place];
  const progress = draft.progress.value;
  const isRefused = progress.state === "refused" && progress.argument === place + 1;
  if (field === undefined) return null;
  return (
    <div class="objects-argument">
      <span class="objects-argument-name">{oneLine(name)}</span>
      <code class="value-type" title={type.words}>
        {type.signature}
      </code>
      <div>
        <FieldInput
          field={field}
          label={name}
          client={client}
          isTried={draft.isTried.value}
          onChange={(to) => draft.change(place, to)}
        />
        {isRefused ? (
          <p class="objects-field-problem" role="alert">
            {progress.sentence}
          </p>
        ) : null}
      </div>
    </div>
  );
}

/** The single text input for all arguments. */
function TextInput({ draft }: { readonly draft: CallDraft }): JSX.Element {
  const { typed, signature } = draft;
  const read = typed.read.value;
  const isWrong = read.state === "wrong";
  return (
    <div class={isWrong ? "objects-field objects-typed wrong" : "objects-field objects-typed"}>
      <textarea
        aria-label={`Arguments as GVariant text, ${signature}`}
        aria-invalid={isWrong}
        aria-describedby={TYPED_ID}
        spellcheck={false}
        placeholder="'text', 7, {'key': <true>}"
        value={typed.text.value}
        onInput={(event) => typed.type(event.currentTarget.value)}
      />
      <div id={TYPED_ID} role="status">
        <TypedState read={read} text={typed.text.value} />
      </div>
    </div>
  );
}

interface TypedProps {
  readonly read: TextRead;
  readonly text: string;
}

/** The result of parsing the text, with the position of an error. */
function TypedState({ read, text }: TypedProps): JSX.Element | null {
  if (read.state === "reading") return null;
  if (read.state === "right") {
    return <p class="note">{counted(read.arguments.length, "argument", "arguments")}, valid</p>;
  }
  const { sentence, column } = read;
  return (
    <>
      {column === undefined ? null : <MarkedPlace text={text} column={column} />}
      <p class="objects-field-problem">{asSentence(sentence)}</p>
    </>
  );
}

interface ButtonsProps {
  readonly draft: CallDraft;
  readonly client: BusClient;
}

function Buttons({ draft, client }: ButtonsProps): JSX.Element {
  const { bus } = useStore();
  const isWaiting = draft.progress.value.state === "waiting";
  const isAllowed = bus.value === "call";
  return (
    <div class="objects-buttons">
      <button
        type="submit"
        class="objects-button main"
        disabled={isWaiting || !isAllowed}
        title={isAllowed ? "Enter" : "Read-only. Restart with --allow-calls to call methods"}
      >
        Call
      </button>
      {isWaiting ? (
        <button type="button" class="objects-button" onClick={() => draft.stop()}>
          Stop
        </button>
      ) : null}
      {draft.types?.length === 0 ? null : (
        <button
          type="button"
          class="objects-button"
          aria-pressed={draft.entry.value === "text"}
          title="Enter all arguments in one field, in gdbus syntax"
          onClick={() => (draft.entry.peek() === "text" ? draft.useFields() : void draft.useText())}
        >
          GVariant text
        </button>
      )}
      <label>
        times{" "}
        <input
          type="number"
          min={1}
          max={REPEAT_MAX}
          value={draft.repeat.value}
          onInput={(event) => (draft.repeat.value = event.currentTarget.valueAsNumber || 1)}
        />
      </label>
      <label title="The service may ask you for a password">
        <input
          type="checkbox"
          checked={draft.isInteractive.value}
          onChange={(event) => (draft.isInteractive.value = event.currentTarget.checked)}
        />{" "}
        Allow interactive authorization
      </label>
      <CopyButtons draft={draft} client={client} />
    </div>
  );
}

/** Buttons that copy the call as a shell command. */
function CopyButtons({ draft, client }: ButtonsProps): JSX.Element {
  const call = draft.call();
  const copy = async (program: keyof CallCommands): Promise<void> => {
    if (call === undefined) return;
    // If the program does not answer, the header of the page reports the lost connection.
    const commands = await client.commands(call).catch(() => undefined);
    if (commands !== undefined) await copyText(commands[program].trimEnd());
  };
  return (
    <span class="objects-copy">
      {PROGRAMS.map((name) => (
        <button
          key={name}
          type="button"
          class="objects-button"
          title={call === undefined ? "Some arguments are not valid" : `Copy as ${name} command`}
          disabled={call === undefined}
          onClick={() => void copy(name)}
        >
          Copy {name}
        </button>
      ))}
    </span>
  );
}

const PROGRAMS = ["busctl", "gdbus"] as const satisfies readonly (keyof CallCommands)[];

function Progress({
  method,
  draft,
}: {
  readonly method: Method;
  readonly draft: CallDraft;
}): JSX.Element | null {
  const progress = draft.progress.value;
  switch (progress.state) {
    case "none":
      return null;
    case "waiting":
      return (
        <p class="note" role="status">
          {progress.of === 1 ? "Waiting…" : `${progress.done} of ${progress.of} answered…`}
        </p>
      );
    case "refused":
      return progress.argument === undefined ? (
        <p class="objects-failed" role="alert">
          {progress.sentence}
        </p>
      ) : null;
    case "answered":
      return (
        <Outcome answer={progress.answer} durations={progress.durations} results={method.results} />
      );
  }
}

const TYPED_ID = "typed-arguments";
