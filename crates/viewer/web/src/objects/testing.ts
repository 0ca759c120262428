// Types for unit tests, which the program generated.

import { checked } from "../format/check";
import types from "../generated/types.json";
import { KnownTypes } from "../state/types";

export const TYPES = new KnownTypes();
const reply = checked("ReplyBusAnswer", { answer: { types: [] }, types });
if ("types" in reply) TYPES.learn(reply.types);
