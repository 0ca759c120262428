import { expect, test } from "vitest";
import { NONE, Recording } from "../model/recording";
import { SizeTimes } from "./sizeTimes";

/**
 * A call of 50 bytes that returns 200 bytes after 3 ms, and a call of 400 bytes that fails after 5
 * ms.
 */
function recording(): Recording {
  const found = new Recording();
  found.at.append(Float64Array.of(0, 3e6, 4e6, 9e6));
  found.kind.append(Uint8Array.of(1, 2, 1, 3));
  found.partner.append(Uint32Array.of(1, 0, 3, 2));
  found.size.append(Uint32Array.of(50, 200, 400, 60));
  found.delivered.append(new Uint32Array(4).fill(NONE));
  return found;
}

test.each([
  [undefined, [0, 3e6, 0]],
  [{ from: 1, until: 1e9 }, [0, 0, 0]],
])("in %o the size of the larger message determines the class", (span, expected) => {
  const times = new SizeTimes([100, 316, 1000], span);
  const all = recording();
  for (let row = 0; row < 4; row++) times.add(all, row);
  expect([...times.totals]).toEqual(expected);
});
