// Byte arrays, in hexadecimal and as text.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { SeenText } from "../parts/SeenText";
import { bytesText, hexRows } from "./values";

/** A byte array as a hex dump that can be extended, and as text if it is a file name. */
export function Bytes({ bytes }: { readonly bytes: string }): JSX.Element {
  const shown = useSignal(BYTES_FIRST);
  const length = bytes.length / 2;
  const text = bytesText(bytes);
  return (
    <div class="bytes">
      {text === undefined ? null : <SeenText text={text} />}
      <table>
        <tbody>
          {hexRows(bytes, 0, Math.min(length, shown.value)).map((row) => (
            <tr key={row.offset}>
              <th scope="row">{row.offset}</th>
              <td>{row.hex}</td>
              <td>{row.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.value >= length ? null : (
        <button type="button" class="plain" onClick={() => (shown.value += BYTES_MORE)}>
          Show more of {length} bytes
        </button>
      )}
    </div>
  );
}

const BYTES_FIRST = 256;
const BYTES_MORE = 2048;
