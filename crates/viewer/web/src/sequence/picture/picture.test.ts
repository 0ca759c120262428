import { expect, test } from "vitest";
import type { TextWidth } from "../paint/pen";
import { pdfOf, winAnsi } from "./pdf";
import { fontOf, Sheet } from "./Sheet";
import { escaped, svgOf } from "./svg";

/** A sheet on which the width of each character is half of its height. */
function sheet(): Sheet {
  const measure = (text: string, font: string): TextWidth => ({
    width: (text.length * fontOf(font).size) / 2,
  });
  return new Sheet(measure);
}

function drawn(): Sheet {
  const made = sheet();
  made.fillStyle = "#ffffff";
  made.fillRect(0, 0, 200, 100);
  made.save();
  made.beginPath();
  made.rect(50, 20, 150, 80);
  made.clip();
  made.strokeStyle = "#0b62c4";
  made.lineWidth = 2.5;
  made.setLineDash([3, 3]);
  made.beginPath();
  made.moveTo(60, 40);
  made.lineTo(180, 40);
  made.stroke();
  made.restore();
  made.font = "600 12px sans-serif";
  made.textAlign = "right";
  made.textBaseline = "middle";
  made.globalAlpha = 0.5;
  made.fillText("Get <All> & (more)", 190, 60);
  return made;
}

test("clipping, saving and alignment match a canvas", () => {
  const [ground, line, text] = drawn().shapes;
  expect(ground).toMatchObject({ is: "fill", color: "#ffffff", clip: undefined });
  expect(line).toMatchObject({
    is: "stroke",
    width: 2.5,
    dash: [3, 3],
    clip: { x: 50, y: 20, width: 150, height: 80 },
    path: [
      ["M", 60, 40],
      ["L", 180, 40],
    ],
  });
  expect(text).toMatchObject({ is: "text", alpha: 0.5, clip: undefined, width: 108 });
  expect(text).toMatchObject({ matrix: [1, 0, 0, 1, 82, 64.2], font: { size: 12, isBold: true } });
});

test("rotation is around the translated origin", () => {
  const made = sheet();
  made.translate(10, 20);
  made.rotate(Math.PI / 2);
  made.moveTo(5, 0);
  made.fill();
  const [shape] = made.shapes;
  const [kind, x, y] = shape?.is === "fill" ? (shape.path[0] ?? []) : [];
  expect(kind).toBe("M");
  expect([x, y].map((value) => Math.round(value ?? 0))).toEqual([10, 25]);
});

test("SVG contains each shape and escaped texts", () => {
  const text = svgOf({ width: 200, height: 100, title: 'a "b" & c', shapes: drawn().shapes });
  expect(text).toContain('viewBox="0 0 200 100"');
  expect(text).toContain("<title>a &quot;b&quot; &amp; c</title>");
  expect(text).toContain('<clipPath id="clip0"><rect x="50" y="20" width="150" height="80"/>');
  expect(text).toContain('<path d="M60 40L180 40" fill="none" stroke="#0b62c4" stroke-width="2.5"');
  expect(text).toContain(">Get &lt;All&gt; &amp; (more)</text>");
});

test.each([
  ["a\u0000b\u001b[31m", "ab[31m"],
  ["<script>\uffff", "&lt;script&gt;"],
])("%j in XML is %s", (text, expected) => {
  expect(escaped(text)).toBe(expected);
});

test("PDF contains the offsets of its objects", () => {
  const bytes = pdfOf({ width: 200, height: 100, title: "t", shapes: drawn().shapes });
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  expect(text.startsWith("%PDF-1.4\n")).toBe(true);
  const table = Number(/startxref\n(\d+)\n/.exec(text)?.[1]);
  expect(text.slice(table, table + 4)).toBe("xref");
  const starts = [...text.matchAll(/^(\d{10}) 00000 n $/gm)].map(([, start]) => Number(start));
  expect(starts).toHaveLength(8);
  starts.forEach((start, place) => {
    expect(text.slice(start)).toMatch(new RegExp(`^${place + 1} 0 obj\\n`));
  });
  const [, length = "", content = ""] =
    /<< \/Length (\d+) >>\nstream\n([\s\S]*?)\nendstream/.exec(text) ?? [];
  expect(content).toHaveLength(Number(length));
  expect(content).toContain("0.043 0.384 0.769 RG 2.5 w [3 3] 0 d");
  expect(content).toContain("(Get <All> & \\(more\\)) Tj");
  expect(content).toContain("/A0_5 gs");
});

test("characters without a glyph are replaced", () => {
  expect(winAnsi("→ dbus-send × 60 … µs дом")).toBe("-> dbus-send × 60 \x85 µs ???");
});
