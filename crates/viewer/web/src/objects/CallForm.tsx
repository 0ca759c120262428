// The form by which a method is called, and what came of it.

import type { JSX } from "preact";
import { typeWords } from "../details/values";
import { copyText } from "../parts/copy";
import { oneLine } from "../parts/seen";
import { useStore } from "../state/context";
import { type Draft, REPEAT_MAX } from "./calling";
import { busctl, gdbus } from "./commands";
import { FieldInput, VariantTypes } from "./FieldInput";
import { Outcome } from "./Outcome";
import type { Method } from "./protocol";
import type { Session } from "./session";
import { signatureOf } from "./types";

interface FormProps {
  readonly method: Method;
  readonly draft: Draft;
  readonly session: Session;
}

export function CallForm({ method, draft, session }: FormProps): JSX.Element {
  const { bus } = useStore();
  const make = (event: Event): void => {
    event.preventDefault();
    if (bus.value !== "call") return;
    void draft.make((call, answer, durations) => session.remember(call, answer, durations));
  };
  if (draft.types === undefined) {
    return <p class="banner">The object tells types that are none, so nothing can be sent.</p>;
  }
  return (
    <form class="objects-call" onSubmit={make} onKeyDown={(event) => submitOnEnter(event)}>
      <VariantTypes />
      {draft.types.map((type, place) => (
        <ArgumentLine
          key={place}
          draft={draft}
          place={place}
          type={signatureOf(type)}
          name={method.arguments[place]?.name ?? `argument ${place + 1}`}
        />
      ))}
      <Buttons draft={draft} />
      <Progress method={method} draft={draft} />
    </form>
  );
}

interface LineProps {
  readonly draft: Draft;
  readonly place: number;
  readonly type: string;
  readonly name: string;
}

function ArgumentLine({ draft, place, type, name }: LineProps): JSX.Element | null {
  const field = draft.fields.value[place];
  const progress = draft.progress.value;
  const isRefused = progress.state === "refused" && progress.argument === place + 1;
  if (field === undefined) return null;
  return (
    <div class="objects-argument">
      <span class="objects-argument-name">{oneLine(name)}</span>
      <code class="value-type" title={typeWords(type)}>
        {type}
      </code>
      <div>
        <FieldInput
          field={field}
          label={name}
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

function Buttons({ draft }: { readonly draft: Draft }): JSX.Element {
  const { bus } = useStore();
  const isWaiting = draft.progress.value.state === "waiting";
  const isAllowed = bus.value === "call";
  return (
    <div class="objects-buttons">
      <button
        type="submit"
        class="objects-button main"
        disabled={isWaiting || !isAllowed}
        title={isAllowed ? "Ctrl+Enter" : "Calls are not allowed: start it with --allow-calls"}
      >
        Call
      </button>
      {isWaiting ? (
        <button type="button" class="objects-button" onClick={() => draft.stop()}>
          Stop
        </button>
      ) : null}
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
      <label title="Somebody may be asked for a password">
        <input
          type="checkbox"
          checked={draft.isInteractive.value}
          onChange={(event) => (draft.isInteractive.value = event.currentTarget.checked)}
        />{" "}
        may ask for a password
      </label>
      <CopyButtons draft={draft} />
    </div>
  );
}

/** The same call for a terminal. */
function CopyButtons({ draft }: { readonly draft: Draft }): JSX.Element {
  const store = useStore();
  const call = draft.call();
  const copy = (words: typeof busctl): void => {
    const address = store.recording.peek().buses[0]?.address;
    if (call !== undefined) void copyText(words(call, address ?? ""));
  };
  return (
    <span class="objects-copy">
      {PROGRAMS.map(([name, words]) => (
        <button
          key={name}
          type="button"
          class="objects-button"
          title={call === undefined ? "Not all arguments are right" : `Copy as ${name} command`}
          disabled={call === undefined}
          onClick={() => copy(words)}
        >
          copy {name}
        </button>
      ))}
    </span>
  );
}

const PROGRAMS = [
  ["busctl", busctl],
  ["gdbus", gdbus],
] as const;

function Progress({
  method,
  draft,
}: {
  readonly method: Method;
  readonly draft: Draft;
}): JSX.Element | null {
  const progress = draft.progress.value;
  switch (progress.state) {
    case "none":
      return null;
    case "waiting":
      return (
        <p class="note" role="status">
          {progress.of === 1 ? "Waiting…" : `${progress.done} of ${progress.of} are answered…`}
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

/** Enter alone makes a line in a text. */
function submitOnEnter(event: KeyboardEvent): void {
  const { currentTarget: form, ctrlKey, metaKey, key } = event;
  if (key !== "Enter" || !(ctrlKey || metaKey) || !(form instanceof HTMLFormElement)) return;
  event.preventDefault();
  form.requestSubmit();
}
