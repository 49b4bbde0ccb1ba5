"use strict";
// What Apple signed, as text: a number of JavaScript keeps no integer beyond 2^53.

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { assay, inside } = require("./table.cjs");
const { configuration, mint } = require("./shops.cjs");
const { sourceOf } = inside("source.cjs");

const open = { skip: !process.env.ASSAY_CLI && "ASSAY_CLI does not name the command line" };

test("the text of the payload keeps what a number cannot", open, () => {
  const owner = new assay.Verifier(configuration());
  const long = "90071992547409931";
  const name = "a \\\" } ] , : {";
  const fact = owner.verifyTransaction(mint("transaction", "--set", `appTransactionNumber=${long}`,
    "--set", `"remark"="${name}"`));
  assert.ok(fact.payloadText.includes(`"appTransactionNumber":${long}`), fact.payloadText);
  assert.notEqual(String(fact.payload.appTransactionNumber), long);
  assert.ok(Object.isFrozen(fact.payload));
  const event = owner.verifyNotification(mint("notification"));
  assert.deepEqual(JSON.parse(event.transaction.payloadText), event.transaction.payload);
  assert.equal(JSON.parse(event.payloadText).notificationUUID, event.payload.notificationUUID);
  assert.deepEqual(JSON.parse(fact.chain.payloadText), fact.chain.payload);
  assert.ok(!JSON.stringify(fact).includes("payloadText"));
});

test("facts are one object with those of the whole document, whichever is read first", open, () => {
  const owner = new assay.Verifier(configuration());
  const jws = mint("transaction", "--set", 'remark=",\\"transaction\\":{"');
  for (const isWholeFirst of [true, false]) {
    const fact = owner.verifyTransaction(jws);
    if (isWholeFirst) assert.equal(fact.document.json.kind, "transaction");
    assert.equal(fact.payload.remark, ',"transaction":{');
    assert.equal(fact.payload, fact.document.json.transaction.payload);
    assert.deepEqual(fact.document.json, JSON.parse(fact.document.text));
    assert.deepEqual(JSON.parse(fact.payloadText), fact.payload);
  }
  const found = owner.triage(Buffer.from(jws));
  assert.equal(found.document.json.triage.category, found.category);
  assert.ok(found.worthVerifying);
});

test("a part of a JSON text, by its path", () => {
  const text = '{"a":[1,{"b":{"\\"}":"]","c":[ {} , -1.5e3 ]}}],"d" : { "a" : null } }';
  for (const [path, wanted] of [[[], text], [["a"], '[1,{"b":{"\\"}":"]","c":[ {} , -1.5e3 ]}}]'],
    [["a", "1", "b", "c"], "[ {} , -1.5e3 ]"], [["a", "1", "b", "c", "0"], "{}"],
    [["d"], '{ "a" : null }'], [["a", "1", "b", '"}'], '"]"']]) {
    assert.equal(sourceOf(text, path), wanted);
  }
});
