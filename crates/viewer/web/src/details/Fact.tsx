// A row of the details panel: a label, a value and a menu.

import type { ComponentChildren, JSX } from "preact";
import { type MenuItem, openMenu } from "../parts/Menu";
import { useStore } from "../state/context";

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
  /** Returns the menu of the value. */
  readonly menu?: (() => readonly MenuItem[]) | undefined;
}

export function Fact({ name, children, menu }: FactProps): JSX.Element {
  const { page } = useStore();
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd onContextMenu={(event) => menu && openMenu(page, event, menu())}>
        {children}
        {menu === undefined ? null : <MenuButton name={name} menu={menu} />}
      </dd>
    </div>
  );
}

interface MenuButtonProps {
  readonly name: string;
  readonly menu: () => readonly MenuItem[];
}

/** A button that opens the menu, for devices without a secondary button. */
export function MenuButton({ name, menu }: MenuButtonProps): JSX.Element {
  const { page } = useStore();
  return (
    <button
      type="button"
      class="fact-menu"
      aria-haspopup="menu"
      aria-label={`Filter by or copy: ${name}`}
      title="Filter or copy"
      onClick={(event) => openMenu(page, event, menu())}
    >
      ⋯
    </button>
  );
}
