// The open context menu, above the page.

import type { JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useStore } from "../state/context";
import type { PageState } from "../state/page";
import {
  closeMenu,
  lineStartingWith,
  type MenuItem,
  nextAction,
  type OpenMenu,
  placed,
} from "./openMenu";

export { action, type MenuItem, openMenu } from "./openMenu";

/** Renders the menu that `openMenu` opened. The page has exactly one host. */
export function MenuHost(): JSX.Element | null {
  const menu = useStore().page.menu.value;
  if (menu === undefined) return null;
  return (
    <section aria-label="Menu">
      <Menu menu={menu} />
    </section>
  );
}

function Menu({ menu }: { readonly menu: OpenMenu }): JSX.Element {
  const { page } = useStore();
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = ref.current;
    if (box === null) return;
    const room = { width: innerWidth, height: innerHeight };
    const { x, y } = placed(menu.at, box.getBoundingClientRect(), room);
    box.style.transform = `translate(${x}px, ${y}px)`;
    focusLine(box, nextAction(menu.items, -1, 1));
  }, [menu]);
  useClosing(page, ref);
  return (
    <div
      class="menu"
      role="menu"
      aria-label="Menu"
      ref={ref}
      onKeyDown={(event) => steer(page, event, menu.items)}
      onContextMenu={(event) => event.preventDefault()}
    >
      {menu.items.map((item, place) => (
        <Line key={place} item={item} place={place} />
      ))}
    </div>
  );
}

function Line({ item, place }: { readonly item: MenuItem; readonly place: number }): JSX.Element {
  const { page } = useStore();
  if (item.kind === "separator") return <hr />;
  if (item.kind === "heading") {
    return (
      <p class="menu-heading" role="presentation">
        {item.label}
      </p>
    );
  }
  const choose = (): void => {
    closeMenu(page);
    item.run();
  };
  return (
    <button
      type="button"
      role="menuitem"
      data-line={place}
      tabIndex={-1}
      onClick={choose}
      onPointerMove={(event) => event.currentTarget.focus({ preventScroll: true })}
    >
      <span class="menu-label">{item.label}</span>
      {item.hint === undefined ? null : <span class="menu-hint">{item.hint}</span>}
    </button>
  );
}

/** Closes the menu when something outside is pressed, or when the page scrolls or is resized. */
function useClosing(page: PageState, ref: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const press = (event: Event): void => {
      const isInside = event.target instanceof Node && ref.current?.contains(event.target);
      if (!isInside) page.menu.value = undefined;
    };
    addEventListener("pointerdown", press, true);
    addEventListener("wheel", press, true);
    const close = (): void => closeMenu(page);
    addEventListener("resize", close);
    return () => {
      removeEventListener("pointerdown", press, true);
      removeEventListener("wheel", press, true);
      removeEventListener("resize", close);
    };
  }, [page, ref]);
}

function steer(
  page: PageState,
  event: TargetedKeyboardEvent<HTMLElement>,
  items: readonly MenuItem[],
): void {
  const box = event.currentTarget;
  const line = Number(document.activeElement?.getAttribute("data-line") ?? -1);
  // Keys of the page are disabled while a menu is open.
  event.stopPropagation();
  if (event.key === "Escape" || event.key === "Tab") closeMenu(page);
  else if (event.key === "ArrowDown") focusLine(box, nextAction(items, line, 1));
  else if (event.key === "ArrowUp") focusLine(box, nextAction(items, line, -1));
  else if (event.key === "Home") focusLine(box, nextAction(items, -1, 1));
  else if (event.key === "End") focusLine(box, nextAction(items, items.length, -1));
  else if (event.key.length === 1 && event.key !== " ") {
    focusLine(box, lineStartingWith(items, line, event.key.toLowerCase()));
  } else return;
  event.preventDefault();
}

function focusLine(box: HTMLElement, line: number): void {
  box.querySelector<HTMLElement>(`[data-line="${line}"]`)?.focus({ preventScroll: false });
}
