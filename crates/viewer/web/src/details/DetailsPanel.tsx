// The details of the selected message.

import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { Headlines } from "../findings/Headlines";
import type { MessageDetails, Peer } from "../generated/protocol";
import { NONE, type Recording } from "../model/recording";
import { count } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import { useAnswer } from "../state/answer";
import { useStore } from "../state/context";
import { CallTimes, InBusTime } from "./CallTimes";
import { Commands } from "./Commands";
import { Facts } from "./Facts";
import { OtherCalls } from "./OtherCalls";
import { Recipients } from "./Recipients";
import { Section } from "./Section";
import { Arguments } from "./ValueTree";

export function DetailsPanel({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const store = useStore();
  // When the reply of the selected call arrives, its details are requested again.
  const partner = useComputed(() => {
    store.grown.value;
    const row = store.selected.value;
    const { length } = store.recording.value;
    return row === undefined || row >= length ? NONE : store.recording.peek().partnerOf(row);
  });
  const request = useAnswer(() => {
    partner.value;
    const id = store.selected.value;
    return id === undefined ? undefined : { ask: "message" as const, id };
  });
  const { answer, problem, isWaiting } = request.value;
  const isSelected = store.selected.value !== undefined;
  return (
    <div class="details-inside">
      <button
        type="button"
        class="plain details-close"
        title="Hide details (i)"
        aria-label="Hide details"
        onClick={onClose}
      >
        ×
      </button>
      {!isSelected ? <NoSelection /> : null}
      {isSelected && problem !== undefined ? <p class="banner">{problem}</p> : null}
      {isSelected && answer !== undefined && answer.id < store.recording.value.length ? (
        <div
          class={isWaiting ? "details-content waiting" : "details-content"}
          aria-busy={isWaiting}
        >
          <Message key={answer.id} details={answer} />
        </div>
      ) : null}
    </div>
  );
}

function NoSelection(): JSX.Element {
  return (
    <>
      <Headlines />
      <p class="empty">Select a message to see its details.</p>
    </>
  );
}

function Message({ details }: { readonly details: MessageDetails }): JSX.Element {
  const recording = useStore().recording.value;
  const subject = recording.subjectOf(details.id);
  const method = recording.buses[recording.bus.get(details.id)]?.method ?? "unknown";
  const { deliveries, problem, in_bus } = details;
  const isTimed = details.phases !== null || details.duration_ns !== null;
  return (
    <>
      <Title details={details} subject={subject} />
      {problem === null ? null : (
        <p class="banner" role="note">
          {oneLine(problem)}
        </p>
      )}
      <Facts details={details} subject={subject} />
      <Section title="Arguments" note={details.signature}>
        <ArgumentsOrNone details={details} />
      </Section>
      {isTimed ? (
        <Section title="Time">
          <CallTimes details={details} method={method} />
        </Section>
      ) : null}
      {in_bus === null ? null : (
        <Section title="Time in the bus">
          <InBusTime inBus={in_bus} />
        </Section>
      )}
      {deliveries === null ? null : (
        <Section title="Recipients" note={count(deliveries.length)}>
          {deliveries.length === 0 ? <p class="note">{noRecipients(details)}</p> : null}
          <Recipients
            deliveries={deliveries}
            queued={in_bus?.routed_after_ns ?? null}
            peers={peersOf(recording, details.id)}
          />
        </Section>
      )}
      {recording.member.get(subject) === 0 ? null : <OtherCalls subject={subject} />}
      <Section title="Copy as">
        <Commands commands={details.commands} />
      </Section>
    </>
  );
}

function noRecipients({ destination }: MessageDetails): string {
  const isForBus = destination.name === "org.freedesktop.DBus";
  return isForBus ? "Handled by the bus itself." : "No connection received a copy.";
}

function ArgumentsOrNone({ details }: { readonly details: MessageDetails }): JSX.Element {
  if (details.arguments.length > 0) return <Arguments values={details.arguments} />;
  const why = details.signature === "" ? "No arguments." : "The arguments cannot be read.";
  return <p class="note">{why}</p>;
}

interface TitleProps {
  readonly details: MessageDetails;
  readonly subject: number;
}

/** The kind and member of the message, and a link to its call or reply. */
function Title({ details, subject }: TitleProps): JSX.Element {
  const store = useStore();
  const recording = store.recording.value;
  const { id, kind, partner } = details;
  const { word, style, other } = KINDS[kind] ?? OTHER_KIND;
  const member = kind === "error" ? details.member : recording.text(recording.member.get(subject));
  return (
    <header class="details-title">
      <div>
        <span class={`kind kind-${style}`}>{word}</span>
        <span class="note">message {count(id + 1 + recording.before)}</span>
        {partner === null ? null : (
          <button type="button" class="plain" onClick={() => store.selectMessage(partner)}>
            {other}
          </button>
        )}
      </div>
      <h2>{oneLine(member, TITLE_MAX)}</h2>
    </header>
  );
}

/** The connections on the bus of a message, by unique name. */
function peersOf(recording: Recording, row: number): ReadonlyMap<string, Peer> {
  const bus = recording.bus.get(row);
  const own = recording.peers.filter((peer) => peer.bus === bus);
  return new Map(own.map((peer) => [peer.unique, peer]));
}

interface KindLook {
  readonly word: string;
  readonly style: string;
  /** The label of the link to the call or reply. */
  readonly other: string;
}

const OTHER_KIND: KindLook = { word: "Message of an unknown type", style: "unknown", other: "" };
const KINDS: Readonly<Record<string, KindLook>> = {
  method_call: { word: "Method call", style: "call", other: "Go to reply →" },
  method_return: { word: "Method return", style: "return", other: "← Go to call" },
  error: { word: "Error", style: "error", other: "← Go to call" },
  signal: { word: "Signal", style: "signal", other: "" },
};

const TITLE_MAX = 300;
