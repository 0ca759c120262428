// A line of the panel: what it is, what it says, and what can be done with it.

import type { ComponentChildren, JSX } from "preact";
import { type MenuItem, openMenu } from "../parts/Menu";
import { useStore } from "../state/context";

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
  /** What can be done with it. */
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

/** Opens the menu for those who have no other button. */
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
