// Form controls for values of any type.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { KnownTypes } from "../state/types";
import { hintOf, type TextCode } from "./basic";
import type { BusClient } from "./bus";
import { type Entry, type FormField, problemOf, replaced, variantField, withOneMore } from "./form";
import { VARIANT_TYPES } from "./session";
import { MANY_LINES } from "./submit";

interface FieldProps<F = FormField> {
  readonly field: F;
  /** The accessible name of the control. */
  readonly label: string;
  /** The client that parses the types of variants. */
  readonly client: BusClient;
  /** True if missing input is reported as well as invalid input. */
  readonly isTried: boolean;
  readonly onChange: (field: FormField) => void;
}

export function FieldInput(props: FieldProps): JSX.Element {
  const { field } = props;
  const problem = isUntouched(field) && !props.isTried ? undefined : problemOf(field);
  return (
    <div class={problem === undefined ? "objects-field" : "objects-field wrong"}>
      <Control {...props} />
      {problem === undefined ? null : (
        <p class="objects-field-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function Control(props: FieldProps): JSX.Element {
  const { field } = props;
  switch (field.kind) {
    case "text":
      return <TextInput {...props} field={field} />;
    case "flag":
      return <FlagInput {...props} field={field} />;
    case "bytes":
      return <BytesInput {...props} field={field} />;
    case "array":
      return <ItemsInput {...props} field={field} />;
    case "dictionary":
      return <EntriesInput {...props} field={field} />;
    case "structure":
      return <StructureInput {...props} field={field} />;
    case "variant":
      return <VariantInput {...props} field={field} />;
  }
}

type Of<K extends FormField["kind"]> = FieldProps<FormField & { readonly kind: K }>;

function TextInput({ field, label, onChange }: Of<"text">): JSX.Element {
  const { code, text } = field;
  const change = (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }): void =>
    onChange({ ...field, text: event.currentTarget.value });
  const shared = { "aria-label": label, placeholder: hintOf(code), value: text, onInput: change };
  if (code === "s") return <LinesInput label={label} shared={shared} />;
  return (
    <input
      type="text"
      spellcheck={false}
      inputMode={isNumber(code) ? "decimal" : "text"}
      {...shared}
    />
  );
}

interface FieldLinesProps {
  readonly label: string;
  readonly shared: JSX.IntrinsicElements["textarea"] & { readonly value: string };
}

/**
 * A text input. Enter submits the form and Shift+Enter begins a line; in multi-line mode, Enter
 * begins a line, too.
 */
function LinesInput({ label, shared }: FieldLinesProps): JSX.Element {
  const { value } = shared;
  const isLong = useSignal(value.includes("\n"));
  const rows = Math.min(LINES_MAX, Math.max(lineCount(value), isLong.value ? LINES_LONG : 1));
  return (
    <div class="objects-field-lines">
      <textarea rows={rows} data-lines={isLong.value ? MANY_LINES : undefined} {...shared} />
      <button
        type="button"
        class="objects-button"
        aria-pressed={isLong.value}
        aria-label={`¶ Several lines: ${label}`}
        title="Several lines: Enter begins a line, Ctrl+Enter submits"
        onClick={() => (isLong.value = !isLong.value)}
      >
        ¶
      </button>
    </div>
  );
}

function FlagInput({ field, label, onChange }: Of<"flag">): JSX.Element {
  return (
    <label class="objects-field-flag">
      <input
        type="checkbox"
        aria-label={label}
        checked={field.isOn}
        onChange={(event) => onChange({ ...field, isOn: event.currentTarget.checked })}
      />
      {String(field.isOn)}
    </label>
  );
}

function BytesInput({ field, label, onChange }: Of<"bytes">): JSX.Element {
  return (
    <textarea
      class="objects-field-bytes"
      rows={Math.min(LINES_MAX, Math.ceil((field.text.length + 1) / BYTES_LINE))}
      spellcheck={false}
      aria-label={label}
      placeholder="bytes in hexadecimal: 00 ff"
      value={field.text}
      onInput={(event) => onChange({ ...field, text: event.currentTarget.value })}
    />
  );
}

function ItemsInput({ field, label, client, isTried, onChange }: Of<"array">): JSX.Element {
  const change = (place: number, item: FormField | undefined): void =>
    onChange({ ...field, items: replaced(field.items, place, item) });
  return (
    <div class="objects-field-held" role="group" aria-label={label}>
      {field.items.map((item, place) => (
        <div key={place} class="objects-field-item">
          <span class="objects-field-place">{place}</span>
          <FieldInput
            field={item}
            label={`${label}, ${place}`}
            client={client}
            isTried={isTried}
            onChange={(to) => change(place, to)}
          />
          <Remove label={`${label}, ${place}`} onRemove={() => change(place, undefined)} />
        </div>
      ))}
      <Add field={field} label={label} onChange={onChange} />
    </div>
  );
}

function EntriesInput({ field, label, client, isTried, onChange }: Of<"dictionary">): JSX.Element {
  const change = (place: number, entry: Entry | undefined): void =>
    onChange({ ...field, entries: replaced(field.entries, place, entry) });
  return (
    <div class="objects-field-held" role="group" aria-label={label}>
      {field.entries.map((entry, place) => (
        <div key={place} class="objects-field-item">
          <FieldInput
            field={entry.key}
            label={`${label}, key ${place}`}
            client={client}
            isTried={isTried}
            onChange={(key) => change(place, { ...entry, key })}
          />
          <span class="objects-field-place">:</span>
          <FieldInput
            field={entry.value}
            label={`${label}, value ${place}`}
            client={client}
            isTried={isTried}
            onChange={(value) => change(place, { ...entry, value })}
          />
          <Remove label={`${label}, ${place}`} onRemove={() => change(place, undefined)} />
        </div>
      ))}
      <Add field={field} label={label} onChange={onChange} />
    </div>
  );
}

function StructureInput({ field, label, client, isTried, onChange }: Of<"structure">): JSX.Element {
  return (
    <div class="objects-field-held" role="group" aria-label={label}>
      {field.fields.map((held, place) => (
        <div key={place} class="objects-field-item">
          <span class="objects-field-place">{place}</span>
          <FieldInput
            field={held}
            label={`${label}, field ${place}`}
            client={client}
            isTried={isTried}
            onChange={(to) => onChange({ ...field, fields: replaced(field.fields, place, to) })}
          />
        </div>
      ))}
    </div>
  );
}

function VariantInput(props: Of<"variant">): JSX.Element {
  const { field, label, client, isTried, onChange } = props;
  // The answer of the program can arrive after more input.
  const latest = useRef(props);
  latest.current = props;
  const choose = (text: string): void => {
    if (text === field.type) return;
    onChange(variantField(text, client.types.get(text)));
    if (client.types.get(text) === undefined) void parse(text);
  };
  const parse = async (text: string): Promise<void> => {
    const types = await client.typesOf(text).catch(() => null);
    const [type, ...others] = types ?? [];
    const { field, onChange } = latest.current;
    if (type === undefined || others.length > 0 || field.type !== text) return;
    if (field.inside === undefined) onChange(variantField(text, type));
  };
  return (
    <div class="objects-field-variant">
      <input
        type="text"
        class="objects-field-type"
        list={TYPES_ID}
        spellcheck={false}
        aria-label={`${label}, type`}
        title={field.inside === undefined ? "" : client.types.words(field.type)}
        value={field.type}
        onInput={(event) => choose(event.currentTarget.value.trim())}
      />
      {field.inside === undefined ? null : (
        <FieldInput
          field={field.inside}
          label={label}
          client={client}
          isTried={isTried}
          onChange={(inside) => onChange({ ...field, inside })}
        />
      )}
    </div>
  );
}

/** Suggestions for the type of a variant. */
export function VariantTypes({ types }: { readonly types: KnownTypes }): JSX.Element {
  return (
    <datalist id={TYPES_ID}>
      {VARIANT_TYPES.map((type) => (
        <option key={type} value={type}>
          {types.words(type)}
        </option>
      ))}
    </datalist>
  );
}

function Add({
  field,
  label,
  onChange,
}: Pick<FieldProps, "field" | "label" | "onChange">): JSX.Element {
  return (
    <button
      type="button"
      class="objects-button"
      aria-label={`Add to ${label}`}
      onClick={() => onChange(withOneMore(field))}
    >
      + add
    </button>
  );
}

interface RemoveProps {
  readonly label: string;
  readonly onRemove: () => void;
}

function Remove({ label, onRemove }: RemoveProps): JSX.Element {
  return (
    <button
      type="button"
      class="objects-button"
      title="Remove"
      aria-label={`Remove ${label}`}
      onClick={onRemove}
    >
      −
    </button>
  );
}

/**
 * True until something is typed. An empty input is not an error until the first attempt to submit.
 */
function isUntouched(field: FormField): boolean {
  return (field.kind === "text" || field.kind === "bytes") && field.text === "";
}

function isNumber(code: TextCode): boolean {
  return "ynqiuxtd".includes(code);
}

function lineCount(text: string): number {
  return text.split("\n", LINES_MAX).length;
}

const LINES_MAX = 8;
/** The minimum number of rows in multi-line mode. */
const LINES_LONG = 3;
/** The number of characters per row in an input for bytes. */
const BYTES_LINE = 48;
const TYPES_ID = "variant-types";
