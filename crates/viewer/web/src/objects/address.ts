// The part of the page's address that belongs to the objects view.

import type { Store } from "../state/store";
import type { AddressPart } from "../state/url";
import { BusClient } from "./bus";
import { type OpenMember, Session } from "./session";

/** The session of the objects view, which is shared by all of its components. */
export function sessionOf(store: Store): Session {
  return store.part(Session, () => new Session(new BusClient(store.types)));
}

/** Stores the service, the object, the selected tab, and the member whose form is open. */
export function sessionAddress(session: Session): AddressPart {
  return {
    write(fields) {
      const { service, place, tab, open } = session;
      const member = open.value;
      if (service.value !== undefined) fields.set("service", service.value);
      if (place.value !== undefined) fields.set("path", place.value.path);
      if (tab.value !== "members") fields.set("object", tab.value);
      if (member !== undefined) fields.set(member.is, `${member.interface}.${member.name}`);
    },
    read(fields) {
      const service = fields.get("service") ?? undefined;
      const path = fields.get("path") ?? undefined;
      const isPlace = service !== undefined && path !== undefined;
      session.show(service, isPlace ? { service, path } : undefined);
      session.tab.value = TABS.find((tab) => tab === fields.get("object")) ?? "members";
      session.open.value = memberIn(fields, "method") ?? memberIn(fields, "property");
    },
  };
}

function memberIn(fields: URLSearchParams, is: OpenMember["is"]): OpenMember | undefined {
  const text = fields.get(is) ?? "";
  // Interface names contain dots, but member names do not.
  const dot = text.lastIndexOf(".");
  if (dot <= 0 || dot === text.length - 1) return undefined;
  return { is, interface: text.slice(0, dot), name: text.slice(dot + 1) };
}

const TABS = ["members", "signals", "calls"] as const;
