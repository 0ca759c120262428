// The store of this page, for its parts.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Store } from "./store";

export const StoreContext = createContext<Store | undefined>(undefined);

/** Returns the store of this page. */
export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Error("used outside of the page");
  return store;
}
