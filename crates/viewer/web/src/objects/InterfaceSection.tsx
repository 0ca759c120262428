// An interface of an object with its members.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { Arguments } from "../details/ValueTree";
import type { Annotation, Method, ObjectInterface, Signal } from "../generated/protocol";
import { counted } from "../parts/format";
import { openMenu } from "../parts/Menu";
import { SeenText } from "../parts/SeenText";
import { useShownWhen } from "../parts/useScrollIntoView";
import { oneLine } from "../parts/visibleText";
import { term } from "../query/terms";
import { useStore } from "../state/context";
import { argumentsText, traitsOf } from "./annotations";
import { CallForm } from "./CallForm";
import { isCommon } from "./objectTree";
import { PropertyLine } from "./PropertyLine";
import { isSameMember, type ObjectPlace, type OpenMember, type Session } from "./session";
import { trafficItems } from "./traffic";
import { displayValue } from "./values";

interface InterfaceSectionProps {
  readonly one: ObjectInterface;
  readonly place: ObjectPlace;
  readonly session: Session;
}

export function InterfaceSection(props: InterfaceSectionProps): JSX.Element {
  const { one } = props;
  const isFolded = useSignal(isCommon(one.name));
  const hasOpen = props.session.open.value?.interface === one.name;
  const isOpen = !isFolded.value || hasOpen;
  const store = useStore();
  const items = () => trafficItems(store, [term("interface", one.name)], one.name);
  return (
    <section class="objects-interface">
      <h3 onContextMenu={(event) => openMenu(store.page, event, items())}>
        <button
          type="button"
          class="section-fold"
          aria-expanded={isOpen}
          onClick={() => (isFolded.value = isOpen)}
        >
          <span class="objects-interface-name">{oneLine(one.name)}</span>
          <span class="section-note">{summary(one)}</span>
        </button>
      </h3>
      {isOpen ? <Members {...props} /> : null}
    </section>
  );
}

function Members(props: InterfaceSectionProps): JSX.Element {
  const { one } = props;
  return (
    <div class="objects-members">
      <About annotations={one.annotations} />
      {one.failure === undefined ? null : (
        <p class="banner">Some values are missing: {one.failure.sentence}</p>
      )}
      <Part title="Properties" length={one.properties.length}>
        {one.properties.map((property) => (
          <PropertyLine key={property.name} property={property} of={one.name} {...props} />
        ))}
      </Part>
      <UndescribedProperties one={one} />
      <Part title="Methods" length={one.methods.length}>
        {one.methods.map((method, at) => (
          <MethodLine key={`${method.name} ${at}`} method={method} {...props} />
        ))}
      </Part>
      <Part title="Signals" length={one.signals.length}>
        {one.signals.map((signal, at) => (
          <SignalLine key={`${signal.name} ${at}`} signal={signal} {...props} />
        ))}
      </Part>
    </div>
  );
}

interface InterfacePartProps {
  readonly title: string;
  readonly length: number;
  readonly children: ComponentChildren;
}

function Part({ title, length, children }: InterfacePartProps): JSX.Element | null {
  if (length === 0) return null;
  return (
    <>
      <h4>{title}</h4>
      <ul>{children}</ul>
    </>
  );
}

function MethodLine(props: InterfaceSectionProps & { readonly method: Method }): JSX.Element {
  const { method, one, place, session } = props;
  const isOpen = isOpenIn(props, method);
  const line = useShownWhen<HTMLLIElement>(isOpen);
  const { isDeprecated } = traitsOf(method.annotations);
  return (
    <li ref={line} onContextMenu={useMemberMenu(one.name, method.name)}>
      <button
        type="button"
        class="objects-member"
        aria-expanded={isOpen}
        onClick={() => (session.open.value = isOpen ? undefined : methodOf(one, method))}
      >
        <span
          class={isDeprecated ? "objects-member-name objects-deprecated" : "objects-member-name"}
        >
          {oneLine(method.name)}
        </span>
        <code>({oneLine(argumentsText(method.arguments))})</code>
        {method.results.length === 0 ? null : (
          <code> → {oneLine(argumentsText(method.results))}</code>
        )}
      </button>
      <About annotations={method.annotations} />
      {isOpen ? (
        <CallForm
          method={method}
          draft={session.draftOf(place, one.name, method)}
          session={session}
        />
      ) : null}
    </li>
  );
}

function SignalLine({
  signal,
  one,
}: InterfaceSectionProps & { readonly signal: Signal }): JSX.Element {
  const { isDeprecated } = traitsOf(signal.annotations);
  return (
    <li onContextMenu={useMemberMenu(one.name, signal.name)}>
      <div class="objects-member">
        <span
          class={isDeprecated ? "objects-member-name objects-deprecated" : "objects-member-name"}
        >
          {oneLine(signal.name)}
        </span>
        <code>({oneLine(argumentsText(signal.arguments))})</code>
      </div>
      <About annotations={signal.annotations} />
    </li>
  );
}

/** Properties that have values but are missing from the introspection data. */
function UndescribedProperties({ one }: { readonly one: ObjectInterface }): JSX.Element | null {
  const { types } = useStore();
  const entries = Object.entries(one.undescribed ?? {});
  if (entries.length === 0) return null;
  return (
    <>
      <h4>Undescribed properties</h4>
      <Arguments values={entries.map(([name, value]) => displayValue(value, types, name))} />
    </>
  );
}

/** The annotations of an interface or a member. */
export function About({
  annotations,
}: {
  readonly annotations: readonly Annotation[];
}): JSX.Element | null {
  if (annotations.length === 0) return null;
  const { isDeprecated, isNoReply, doc, others } = traitsOf(annotations);
  return (
    <div class="objects-about">
      {isDeprecated ? <span class="objects-mark">deprecated</span> : null}
      {isNoReply ? <span class="objects-mark">no reply</span> : null}
      {doc === "" ? null : <SeenText text={doc} />}
      {others.map(({ name, value }, at) => (
        <div key={at} class="note">
          {oneLine(name)} = <SeenText text={value} />
        </div>
      ))}
    </div>
  );
}

function useMemberMenu(of: string, member: string): (event: MouseEvent) => void {
  const store = useStore();
  return (event) => {
    const terms = [term("interface", of), term("member", member)];
    openMenu(store.page, event, trafficItems(store, terms, `${of}.${member}`));
  };
}

function isOpenIn({ one, session }: InterfaceSectionProps, method: Method): boolean {
  return isSameMember(session.open.value, methodOf(one, method));
}

function methodOf(one: ObjectInterface, { name }: Method): OpenMember {
  return { is: "method", interface: one.name, name };
}

function summary({ methods, signals, properties }: ObjectInterface): string {
  const parts = [
    methods.length > 0 ? counted(methods.length, "method", "methods") : "",
    properties.length > 0 ? counted(properties.length, "property", "properties") : "",
    signals.length > 0 ? counted(signals.length, "signal", "signals") : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}
