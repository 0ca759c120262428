import { expect, test } from "vitest";
import { isName } from "./names";

test.each([
  ["org.example.Mail1.GetMessages", true],
  ["/org/example/mail/inbox", true],
  ["/", false],
  ["GetAll", false],
  ["demo-poller (:1.9)", false],
  ["type='signal',interface='org.example.Mail'", false],
  ["It has ended because of that. And this.", false],
])("%s keeps its last words: %s", (text, expected) => {
  expect(isName(text)).toBe(expected);
});
