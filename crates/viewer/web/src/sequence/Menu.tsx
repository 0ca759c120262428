// A menu that opens where the pointer is.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Action } from "./model/menu";
import { drawable } from "./model/text";
import { intoView } from "./place";

interface MenuProps {
  readonly x: number;
  readonly y: number;
  readonly actions: readonly Action[];
  readonly onClose: () => void;
}

export function Menu({ x, y, actions, onClose }: MenuProps): JSX.Element {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (menu.current === null) return;
    intoView(menu.current, x, y);
    menu.current.querySelector("button")?.focus();
  }, [x, y]);
  useEffect(() => {
    const outside = (event: Event): void => {
      if (!(event.target instanceof Node) || !menu.current?.contains(event.target)) onClose();
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [onClose]);
  const choose = (action: Action): void => {
    action.act();
    onClose();
  };
  return (
    <div class="menu" role="menu" ref={menu} onKeyDown={(event) => move(event, onClose)}>
      {actions.map((action) => (
        <button key={action.title} type="button" role="menuitem" onClick={() => choose(action)}>
          {drawable(action.title)}
        </button>
      ))}
    </div>
  );
}

/** Goes from item to item. */
function move(
  event: KeyboardEvent & { readonly currentTarget: HTMLElement },
  onClose: () => void,
): void {
  const items = [...event.currentTarget.querySelectorAll("button")];
  const at = items.indexOf(document.activeElement as HTMLButtonElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") onClose();
  else if (to === undefined) return;
  else items[(to + items.length) % items.length]?.focus();
  event.preventDefault();
  event.stopPropagation();
}
