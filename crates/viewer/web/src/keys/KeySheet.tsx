// The overview of keyboard shortcuts.

import type { JSX } from "preact";
import { useStore } from "../state/context";
import type { PageState } from "../state/page";
import { type KeyNote, keyName, sheetOf } from "./keys";
import { useModal } from "./modal";

/** Opens or closes the overview of keyboard shortcuts. */
export function toggleKeySheet({ isKeySheetOpen: isOpen }: PageState): void {
  isOpen.value = !isOpen.value;
}

/** The overview of keyboard shortcuts, grouped by the part of the page to which they belong. */
export function KeySheet(): JSX.Element | null {
  return useStore().page.isKeySheetOpen.value ? <Sheet /> : null;
}

function Sheet(): JSX.Element {
  const { page } = useStore();
  const { close, onKeyDown, ...attributes } = useModal(page.isKeySheetOpen);
  return (
    <dialog
      class="sheet"
      aria-labelledby="sheet-title"
      {...attributes}
      onKeyDown={(event) => {
        if (event.key === "?") close();
        else onKeyDown(event);
      }}
    >
      <div class="sheet-inside">
        <header>
          <h2 id="sheet-title">Keyboard shortcuts</h2>
          <button type="button" class="plain" onClick={close}>
            Close
          </button>
        </header>
        <div class="sheet-parts">
          {sheetOf(page.keyParts.value).map(([name, keys]) => (
            <Part key={name} name={name} keys={keys} />
          ))}
        </div>
      </div>
    </dialog>
  );
}

interface KeyPartProps {
  readonly name: string;
  readonly keys: readonly KeyNote[];
}

function Part({ name, keys: listed }: KeyPartProps): JSX.Element {
  return (
    <section>
      <h3>{name}</h3>
      <dl>
        {listed.map(({ keys, about }) => (
          <div key={about}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{keyName(key)}</kbd>
              ))}
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
