// A property with its value and, if it is writable, a form to set it.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Arguments } from "../details/ValueTree";
import type { ObjectProperty, ValueType } from "../generated/protocol";
import { openMenu } from "../parts/Menu";
import { useShownWhen } from "../parts/useScrollIntoView";
import { oneLine } from "../parts/visibleText";
import { term } from "../query/terms";
import { useStore } from "../state/context";
import type { KnownTypes } from "../state/types";
import { traitsOf } from "./annotations";
import { EMITS } from "./changes";
import { FieldInput, VariantTypes } from "./FieldInput";
import { emptyField, type FormField, fieldOf, readField } from "./form";
import { About } from "./InterfaceSection";
import { sentenceOf } from "./latest";
import {
  isSameMember,
  memberKey,
  type ObjectPlace,
  type OpenMember,
  type Session,
} from "./session";
import { submitOnEnter } from "./submit";
import { trafficItems } from "./traffic";
import { displayValue } from "./values";

interface PropertyProps {
  readonly property: ObjectProperty;
  /** The interface of the property. */
  readonly of: string;
  readonly place: ObjectPlace;
  readonly session: Session;
}

export function PropertyLine(props: PropertyProps): JSX.Element {
  const { property, of, session } = props;
  const store = useStore();
  const member: OpenMember = { is: "property", interface: of, name: property.name };
  const isSetting = isSameMember(session.open.value, member);
  const line = useShownWhen<HTMLLIElement>(isSetting);
  const canSet = property.access !== "read" && store.bus.value === "call";
  const changes = session.changes.value.get(memberKey(of, property.name)) ?? 0;
  const { isDeprecated } = traitsOf(property.annotations);
  const items = () =>
    trafficItems(store, [term("interface", PROPERTIES), term("arg", property.name)], property.name);
  return (
    <li ref={line} onContextMenu={(event) => openMenu(store.page, event, items())}>
      <div class="objects-property">
        <div class="objects-property-head">
          <span
            class={isDeprecated ? "objects-member-name objects-deprecated" : "objects-member-name"}
          >
            {oneLine(property.name)}
          </span>
          <code class="value-type" title={store.types.words(property.type)}>
            {property.type}
          </code>
          <span class="note">{ACCESS[property.access]}</span>
          <span class="note">{EMITS[property.emits_change]}</span>
        </div>
        <div class={changes === 0 ? "objects-value" : `objects-value changed-${changes % 2}`}>
          <Value property={property} />
        </div>
        {canSet ? (
          <button
            type="button"
            class="objects-button"
            aria-expanded={isSetting}
            onClick={() => (session.open.value = isSetting ? undefined : member)}
          >
            Set…
          </button>
        ) : null}
      </div>
      <About annotations={property.annotations} />
      {isSetting && canSet ? (
        <Setting {...props} onDone={() => (session.open.value = undefined)} />
      ) : null}
    </li>
  );
}

function Value({ property }: { readonly property: ObjectProperty }): JSX.Element {
  const { types } = useStore();
  const { value, failure } = property;
  if (value !== undefined)
    return <Arguments values={[displayValue(value, types, property.name)]} />;
  if (failure !== undefined) return <span class="objects-failed">{failure.sentence}</span>;
  return <span class="note">write-only</span>;
}

type SettingProps = PropertyProps & { readonly onDone: () => void };

function Setting(props: SettingProps): JSX.Element {
  const type = useStore().types.get(props.property.type);
  if (type === undefined) return <p class="banner">The object declares an invalid type.</p>;
  return <SettingForm {...props} type={type} />;
}

function SettingForm(props: SettingProps & { readonly type: ValueType }): JSX.Element {
  const { property, type } = props;
  const field = useSignal<FormField>(firstField(property, type, props.session.client.types));
  const problem = useSignal<string | undefined>(undefined);
  const isTried = useSignal(false);
  const set = async (event: Event): Promise<void> => {
    event.preventDefault();
    isTried.value = true;
    problem.value = await send(props, field.value);
    if (problem.value === undefined && "value" in readField(field.value)) props.onDone();
  };
  return (
    <form class="objects-call" onSubmit={(event) => void set(event)} onKeyDown={submitOnEnter}>
      <VariantTypes types={props.session.client.types} />
      <FieldInput
        field={field.value}
        label={property.name}
        client={props.session.client}
        isTried={isTried.value}
        onChange={(to) => (field.value = to)}
      />
      {problem.value === undefined ? null : <p class="objects-field-problem">{problem.value}</p>}
      <div class="objects-buttons">
        <button type="submit" class="objects-button main">
          Set
        </button>
        <button type="button" class="objects-button" onClick={props.onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** Sets the property if the field is valid. Returns the error, if it fails. */
async function send(props: SettingProps, field: FormField): Promise<string | undefined> {
  const { property, of, place, session } = props;
  const read = readField(field);
  if ("problem" in read) return undefined;
  const name = { ...place, interface: of, property: property.name };
  try {
    const answer = await session.client.set(name, property.type, read.value);
    if (answer.failed !== undefined) return answer.failed.sentence;
    // Not all objects announce changes, so the object is read again.
    await session.refreshObject();
    return undefined;
  } catch (error) {
    return sentenceOf(error);
  }
}

function firstField(
  { value, type: declared }: ObjectProperty,
  type: ValueType,
  types: KnownTypes,
): FormField {
  return value?.type === declared ? fieldOf(type, value.data, types) : emptyField(type);
}

const ACCESS: Readonly<Record<ObjectProperty["access"], string>> = {
  read: "read",
  write: "write",
  "read-write": "read, write",
};

const PROPERTIES = "org.freedesktop.DBus.Properties";
