// What is looked at on a bus.

import { Session } from "./session";

/** The one bus of the page. What is looked at there stays while other views are shown. */
export const session = new Session();
