// The tabs of a view.

import type { JSX, TargetedKeyboardEvent } from "preact";

interface TabListProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly name: T; readonly title: string }[];
  /** The name of the selected tab. */
  readonly shown: T;
  readonly onChoose: (name: T) => void;
}

/** A row of tabs. The arrow keys select the next tab and wrap around at the ends. */
export function TabList<T extends string>(props: TabListProps<T>): JSX.Element {
  const { label, tabs, shown, onChoose } = props;
  const press = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = event.shiftKey ? undefined : { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const place = tabs.findIndex(({ name }) => name === shown);
    const next = (place + step + tabs.length) % tabs.length;
    if (tabs[next] !== undefined) onChoose(tabs[next].name);
    event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div class="subtabs" role="tablist" aria-label={label} onKeyDown={press}>
      {tabs.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          role="tab"
          class="subtab"
          aria-selected={name === shown}
          tabIndex={name === shown ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
