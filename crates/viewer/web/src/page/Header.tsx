// The header of the page: views, title, status and tools.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { toggleKeySheet } from "../keys/KeySheet";
import { CopyButton } from "../parts/CopyButton";
import { count, counted, rate } from "../parts/format";
import { useStore } from "../state/context";
import { missingWords } from "../state/missing";
import { nextTheme, type ThemeChoice } from "../state/theme";
import { link } from "../state/url";
import { VIEWS } from "../state/views";
import { Rate } from "./rate";
import { SaveButton } from "./SaveButton";
import { type Status, statusOf } from "./status";

export function Header(): JSX.Element {
  const store = useStore();
  return (
    <header class="header">
      <h1 class="brand">Diligence</h1>
      <Tabs />
      <span class="title" title={store.title.value}>
        {store.title.value}
      </span>
      <ProgressMark />
      <RedactedMark />
      <MissingMark />
      <PauseButton />
      <div class="tools">
        <CopyButton
          label="Link"
          title="Copy a link to this state: view, filter, time range, message"
          text={() => link(store)}
        />
        <SaveButton />
        <ThemeButton />
        <button
          type="button"
          class="plain"
          title="Keyboard shortcuts (?)"
          aria-label="Keyboard shortcuts"
          onClick={() => toggleKeySheet(store.page)}
        >
          ?
        </button>
      </div>
    </header>
  );
}

function Tabs(): JSX.Element {
  const store = useStore();
  return (
    <nav class="tabs" aria-label="Views">
      {VIEWS.map(({ name, title, about }, place) => (
        <button
          key={name}
          type="button"
          class="tab"
          aria-current={store.view.value === name ? "page" : undefined}
          title={`${about} (${place + 1})`}
          onClick={() => (store.view.value = name)}
        >
          {title}
        </button>
      ))}
    </nav>
  );
}

function ProgressMark(): JSX.Element {
  const progress = useStore().progress.value;
  if (progress.state === "live") return <LiveMark />;
  return <StatusMark status={statusOf(useStore())} />;
}

function StatusMark({ status }: { readonly status: Status }): JSX.Element {
  return (
    <span class={`progress progress-${status.state}`} role="status" title={status.about}>
      {status.words}
    </span>
  );
}

/** Shows that message contents were removed when the recording was made or saved. */
function RedactedMark(): JSX.Element | null {
  const store = useStore();
  store.grown.value;
  if (!store.recording.value.buses.some(({ redacted }) => redacted)) return null;
  return (
    <span class="missing redacted" role="note" title="The contents of messages were removed.">
      redacted
    </span>
  );
}

/** Pauses the live view, or resumes it with the messages that arrived in the meantime. */
function PauseButton(): JSX.Element | null {
  const store = useStore();
  if (store.progress.value.state !== "live") return null;
  const isPaused = store.isPaused.value;
  const held = store.held.value;
  return (
    <button
      type="button"
      class="plain pause"
      aria-pressed={isPaused}
      title={isPaused ? "Resume the live view" : "Pause the live view, including all counts"}
      onClick={() => store.togglePause()}
    >
      {isPaused ? `Resume${held > 0 ? ` (${count(held)} more)` : ""}` : "Pause"}
    </button>
  );
}

/**
 * Shows that the bus is live, and the rate of messages. The text changes at most every {@link
 * UPDATE_MS} milliseconds, so that it stays readable.
 */
function LiveMark(): JSX.Element {
  const store = useStore();
  const measuredRate = useMemo(() => new Rate(), []);
  const label = useSignal("");
  const messages = useSignal(0);
  useEffect(() => {
    const update = (): void => {
      const recording = store.recording.peek();
      if (store.isPaused.peek()) {
        label.value = "paused";
        return;
      }
      messages.value = recording.before + recording.length;
      measuredRate.add(performance.now(), messages.value);
      const perSecond = measuredRate.perSecond;
      label.value = perSecond === undefined ? "live" : `live · ${rate(perSecond)}`;
    };
    update();
    const timer = setInterval(update, UPDATE_MS);
    return () => clearInterval(timer);
  }, [store]);
  return (
    <span
      class={`progress progress-${store.isPaused.value ? "paused" : "live"}`}
      title={`${counted(messages.value, "message", "messages")} since this page opened, and current rate`}
    >
      <span class="sr-only">live: </span>
      {label.value}
    </span>
  );
}

/** Shows how many messages of the bus are missing, and why. */
function MissingMark(): JSX.Element | null {
  const words = missingWords(useStore().missing.value);
  if (words.length === 0) return null;
  const text = words.join("; ");
  return (
    <span class="missing" role="status" title={text}>
      {text}
    </span>
  );
}

function ThemeButton(): JSX.Element {
  const { theme } = useStore().page;
  const { sign, words } = THEME_BUTTONS[theme.value];
  return (
    <button
      type="button"
      class="plain"
      title={`${words} (t)`}
      aria-label={words}
      onClick={() => (theme.value = nextTheme(theme.value))}
    >
      {sign}
    </button>
  );
}

const THEME_BUTTONS: Record<ThemeChoice, { readonly sign: string; readonly words: string }> = {
  system: { sign: "◐", words: "Theme: system" },
  light: { sign: "☀", words: "Theme: light" },
  dark: { sign: "☾", words: "Theme: dark" },
};

const UPDATE_MS = 500;
