import { expect, test } from "vitest";
import { type Field, hasAlternatives, quoted, term, withTerm } from "./terms";

test.each<[Field, string | number, string]>([
  ["member", "GetAll", "member:GetAll"],
  ["from", ":1.7", "from::1.7"],
  ["path", "/org/example/mail", "path:/org/example/mail"],
  ["number", 12, "number:12"],
  ["sig", "a{sv}", "sig:a{sv}"],
  ["sig", "a(ii)", 'sig:"a(ii)"'],
  ["arg0", "", 'arg0:""'],
  ["arg0", "Foo bar", 'arg0:"Foo bar"'],
  ["arg0", "a*b", 'arg0:"a*b"'],
  ["arg0", "it's", `arg0:"it's"`],
  ["arg0", 'say "no"', 'arg0:"say \\"no\\""'],
  ["arg0", "C:\\x", 'arg0:"C:\\\\x"'],
  ["arg0", "a\nb c(", "arg0~/^a\\x{a}b\\x{20}c\\x{28}$/"],
  ["arg0", "\u202eevil", "arg0~/^\\x{202e}evil$/"],
])("%s of %j is written %s", (field, value, expected) => {
  expect(term(field, value)).toBe(expected);
});

test("keywords are quoted as values", () => {
  expect(quoted("or")).toBe("or");
  expect(quoted("(or)")).toBe('"(or)"');
});

test.each([
  ["", "a:1", "a:1"],
  ["  ", "a:1", "a:1"],
  ["b:2", "a:1", "b:2 a:1"],
  ["a:1", "a:1", "a:1"],
  ["b:2 a:1", "a:1", "b:2 a:1"],
  ["b:2 or c:3", "a:1", "(b:2 or c:3) a:1"],
  ["(b:2 or c:3)", "a:1", "(b:2 or c:3) a:1"],
  ["b:2 OR c:3", "!a:1", "(b:2 OR c:3) !a:1"],
])("%j with %j is %j", (query, text, expected) => {
  expect(withTerm(query, text)).toBe(expected);
});

test.each([
  ["a or b", true],
  ["a || b", true],
  ["(a or b) c", false],
  ['arg0:"a or b"', false],
  ["arg0:'x \\' or y'", false],
  ["member:or", false],
  ["ordinary", false],
])("%j has alternatives: %s", (query, expected) => {
  expect(hasAlternatives(query)).toBe(expected);
});
