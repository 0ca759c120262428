// The head of the page: its views, what is shown in it, and how it looks.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { toggleKeySheet } from "../keys/KeySheet";
import { CopyButton } from "../parts/CopyButton";
import { count, rate } from "../parts/format";
import { action, openMenu } from "../parts/openMenu";
import { useStore } from "../state/context";
import { missingWords } from "../state/missing";
import { nextTheme, type Theme, theme } from "../state/theme";
import { VIEWS } from "../state/views";
import { Rate } from "./rate";

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
      <MissingMark />
      <div class="tools">
        <CopyButton
          label="Link"
          title="Copy the address of exactly what is seen: view, query, time, message"
          text={() => location.href}
        />
        <SaveButton />
        <ThemeButton />
        <button
          type="button"
          class="plain"
          title="All keys (?)"
          aria-label="All keys"
          onClick={toggleKeySheet}
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
  const why = "why" in progress ? progress.why : undefined;
  return (
    <span class={`progress progress-${progress.state}`} role="status" title={why}>
      {why ?? (progress.state === "whole" ? "complete" : "reading…")}
    </span>
  );
}

/** Says of a bus how many messages there were and how many come, often enough to be read. */
function LiveMark(): JSX.Element {
  const store = useStore();
  const seen = useMemo(() => new Rate(), []);
  const told = useSignal("");
  useEffect(() => {
    const look = (): void => {
      const recording = store.recording.peek();
      const messages = recording.before + recording.length;
      seen.note(performance.now(), messages);
      const perSecond = seen.perSecond;
      told.value = `${count(messages)}${perSecond === undefined ? "" : ` · ${rate(perSecond)}`}`;
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [store]);
  return (
    <span
      class="progress progress-live"
      title="messages since the page looks, and how many come now"
    >
      <span class="sr-only">live: </span>
      {told.value}
    </span>
  );
}

/** Says how much of a bus is not shown, and why. */
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

/** Saves the page with the recording as one file, unless it is that already. */
function SaveButton(): JSX.Element | null {
  const { saves } = useStore().source;
  if (saves === undefined) return null;
  const items = [
    action("Save as one file that needs nothing else", () => location.assign(saves.whole)),
    action("Save without what messages say", () => location.assign(saves.redacted)),
  ];
  return (
    <button
      type="button"
      class="plain"
      title="Save the page with the recording, to send it to somebody"
      aria-haspopup="menu"
      onClick={(event) => openMenu(event, items)}
    >
      Save
    </button>
  );
}

function ThemeButton(): JSX.Element {
  const { sign, words } = LOOKS[theme.value];
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

const LOOKS: Record<Theme, { readonly sign: string; readonly words: string }> = {
  system: { sign: "◐", words: "Colours: as the desktop has them" },
  light: { sign: "☀", words: "Colours: light" },
  dark: { sign: "☾", words: "Colours: dark" },
};

const LOOK_MS = 500;
