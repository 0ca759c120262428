// What of the views is in the address of the page.

import { findingsAddress } from "../findings/address";
import { sessionAddress, sessionOf } from "../objects/address";
import { sequenceAddress } from "../sequence/address";
import type { Store } from "../state/store";
import type { AddressPart } from "../state/url";
import { statisticsAddress } from "../statistics/address";
import { statisticsState } from "../statistics/state";
import { timelineAddress } from "../timeline/address";

/** All views that have something there, whichever is shown: who goes back to one finds it as it was. */
export function addressParts(store: Store): readonly AddressPart[] {
  return [
    sequenceAddress(store),
    statisticsAddress(statisticsState(store)),
    timelineAddress(store),
    findingsAddress(store),
    sessionAddress(sessionOf(store)),
  ];
}
