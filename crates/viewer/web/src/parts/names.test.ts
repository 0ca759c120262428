import { expect, test } from "vitest";
import { cutName, isName } from "./names";

test.each([
  ["org.example.Mail1.GetMessages", true],
  ["/org/example/mail/inbox", true],
  ["/", false],
  ["GetAll", false],
  ["demo-poller (:1.9)", false],
  ["type='signal',interface='org.example.Mail'", false],
  ["It ended because of an error. See the log.", false],
])("%s is a name: %s", (text, expected) => {
  expect(isName(text)).toBe(expected);
});

test.each([
  ["org.example.Mail1.GetMessages", 40, "org.example.Mail1.GetMessages"],
  ["org.example.Mail1.GetMessages", 25, "…Mail1.GetMessages"],
  ["org.example.Mail1.GetMessages", 12, "…GetMessages"],
  ["org.example.Mail1.GetMessages", 5, "…GetMessages"],
  ["/org/example/mail/inbox", 12, "…mail/inbox"],
  ["GetMessages", 5, "GetMessages"],
])("%s is cut to %d letters", (name, letters, expected) => {
  expect(cutName(name, (text) => text.length <= letters)).toBe(expected);
});
