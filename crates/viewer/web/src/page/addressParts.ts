// The parts of the page's address that belong to views.

import { findingsAddress } from "../findings/address";
import { sessionAddress, sessionOf } from "../objects/address";
import { sequenceAddress } from "../sequence/address";
import type { Store } from "../state/store";
import type { AddressPart } from "../state/url";
import { statisticsAddress } from "../statistics/address";
import { statisticsState } from "../statistics/state";
import { timelineAddress } from "../timeline/address";

/**
 * The address parts of all views, including hidden ones, so that a view keeps its state while
 * another view is shown.
 */
export function addressParts(store: Store): readonly AddressPart[] {
  return [
    sequenceAddress(store),
    statisticsAddress(statisticsState(store)),
    timelineAddress(store),
    findingsAddress(store),
    sessionAddress(sessionOf(store)),
  ];
}
