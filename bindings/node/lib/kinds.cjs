"use strict";
// The typed facts of a document, by its kind; those of an exchange by its operation.

const facts = require("../generated/facts.cjs");
const { OPERATIONS } = require("../generated/operations.cjs");
const { MADE, find, parsed } = require("./document.cjs");

const byKind = new Map();
for (const Class of Object.values(facts)) {
  if (Class.kind) byKind.set(Class.kind, [Class, Class.at]);
}
// Class and path of the result of an operation; those of a ledger come with the ledger.
const OPERATION_OF = new Map(OPERATIONS.filter(({ result }) => facts[result]?.facts)
  .map(({ operation, result, at }) => [operation, [facts[result], at]]));

/** Return the typed facts of a document; null if it has none. */
function factsOf(document) {
  const json = parsed(document);
  const [Class, at] = byKind.get(document.kind) ??
    OPERATION_OF.get(find(json, ["exchange", "operation"])) ?? [];
  // A refused response of verifyReceipt contains nothing but Apple's status.
  if (Class === undefined || (Class === facts.VerifyReceiptResponse && !document.ok)) return null;
  const values = find(json, at);
  return values === null || values === undefined ? null : new Class(MADE, document, values);
}

module.exports = { OPERATION_OF, factsOf };
