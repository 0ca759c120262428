// The arguments of a message as an expandable tree.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Value } from "../generated/protocol";
import { counted } from "../parts/format";
import { type MenuItem, openMenu } from "../parts/Menu";
import { SeenText } from "../parts/SeenText";
import { oneLine } from "../parts/visibleText";
import { copyItems, filterItems } from "../query/filterMenu";
import type { Field } from "../query/terms";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import { Bytes } from "./Bytes";
import { MenuButton } from "./Fact";
import {
  type Child,
  childrenOf,
  copied,
  hexadecimal,
  inline,
  leftOut,
  pages,
  unwrapped,
} from "./values";

/** All arguments of a message. */
export function Arguments({ values }: { readonly values: readonly Value[] }): JSX.Element {
  return (
    <ul class="values">
      {values.map((value, place) => (
        <Node
          key={place}
          label={value.name ?? String(place)}
          value={value}
          field={place < FIELDS_MAX ? `arg${place}` : "arg"}
          depth={0}
        />
      ))}
    </ul>
  );
}

interface NodeProps extends Child {
  /** The query field for the argument that contains the value. */
  readonly field: Field;
  readonly depth: number;
}

function Node(props: NodeProps): JSX.Element {
  const { label, value, depth } = props;
  const store = useStore();
  const inner = unwrapped(value);
  const isBasic = "text" in inner;
  const length = "bytes" in inner ? inner.bytes.length / 2 : childrenOf(inner).length;
  const isOpen = useSignal(depth < DEPTH_OPEN && length <= LENGTH_OPEN);
  const menu = (): MenuItem[] => menuOf(store, props);
  return (
    <li onContextMenu={(event) => openMenu(store.page, event, menu())}>
      <div class="value">
        {isBasic || length === 0 ? (
          <span class="value-label">{oneLine(label, LABEL_MAX)}</span>
        ) : (
          <button
            type="button"
            class="value-label value-fold"
            aria-expanded={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            {oneLine(label, LABEL_MAX)}
          </button>
        )}
        <Type value={value} />
        <span class="value-text">
          {isBasic ? <Basic value={inner} /> : <Summary value={inner} isOpen={isOpen.value} />}
        </span>
        <MenuButton name={label} menu={menu} />
      </div>
      {isOpen.value && !isBasic && length > 0 ? <Inside {...props} /> : null}
    </li>
  );
}

function Inside({ value, field, depth }: NodeProps): JSX.Element {
  const inner = unwrapped(value);
  if ("bytes" in inner) return <Bytes bytes={inner.bytes} />;
  return (
    <>
      <Children all={childrenOf(inner)} field={field} depth={depth + 1} />
      {leftOut(inner) === 0 ? null : (
        <p class="note">{counted(leftOut(inner), "more value", "more values")} not shown.</p>
      )}
    </>
  );
}

interface ChildrenProps {
  readonly all: readonly Child[];
  readonly field: Field;
  readonly depth: number;
}

/** The nested values. A long list is divided into pages. */
function Children({ all, field, depth }: ChildrenProps): JSX.Element {
  const page = useSignal(0);
  const choices = pages(all.length, PAGE);
  const { from, to } = choices[page.value] ?? { from: 0, to: all.length };
  return (
    <>
      {choices.length === 0 ? null : (
        <select
          class="page-choice"
          aria-label="Page"
          value={page.value}
          onChange={(event) => (page.value = Number(event.currentTarget.value))}
        >
          {choices.map((choice, place) => (
            <option key={choice.from} value={place}>
              {choice.from} to {choice.to - 1} of {all.length}
            </option>
          ))}
        </select>
      )}
      <ul class="values">
        {all.slice(from, to).map(({ label, value }, place) => (
          <Node key={from + place} label={label} value={value} field={field} depth={depth} />
        ))}
      </ul>
    </>
  );
}

/** The type as a signature, with a description as tooltip. */
function Type({ value }: { readonly value: Value }): JSX.Element {
  const inner = unwrapped(value);
  const words = useStore().types.words(inner.type);
  const isVariant = inner !== value;
  return (
    <code class="value-type" title={isVariant ? `variant of ${words}` : words}>
      {isVariant ? `v·${inner.type}` : inner.type}
    </code>
  );
}

function Basic({ value }: { readonly value: Value & { readonly text: string } }): JSX.Element {
  if (value.text === "") return <span class="note">empty</span>;
  if (value.type === "s") return <SeenText key={value.text} text={value.text} />;
  const hex = hexadecimal(value.type, value.text);
  return (
    <span class={`basic basic-${value.type}`} title={hex}>
      {oneLine(value.text)}
    </span>
  );
}

function Summary({
  value,
  isOpen,
}: {
  readonly value: Value;
  readonly isOpen: boolean;
}): JSX.Element {
  const length = childrenOf(value).length + leftOut(value);
  const words = "bytes" in value ? inline(value) : length === 0 ? "empty" : inline(value);
  const text = isOpen && length > 0 ? counted(length, "value", "values") : words;
  return <span class="note">{oneLine(text)}</span>;
}

function menuOf(store: Store, { value, field }: NodeProps): MenuItem[] {
  const inner = unwrapped(value);
  if (!("text" in inner)) return copyItems(copied(inner));
  const items = filterItems(store, field, inner.text);
  const hex = hexadecimal(inner.type, inner.text);
  const more = inner.type === "o" ? filterItems(store, "path", inner.text).slice(0, 1) : [];
  return [...more, ...items, ...(hex === undefined ? [] : copyItems(hex))];
}

/** The number of arguments that have their own query field. */
const FIELDS_MAX = 64;
/** Deeper or longer values are initially collapsed. */
const DEPTH_OPEN = 3;
const LENGTH_OPEN = 20;
/** The number of array elements per page. */
const PAGE = 100;
const LABEL_MAX = 200;
