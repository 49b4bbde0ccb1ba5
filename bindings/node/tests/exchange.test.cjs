"use strict";
// Exchanges without steps, and with steps whose replies come from a script.

const assert = require("node:assert/strict");
const test = require("node:test");
const { inspect } = require("node:util");
const { assay, begun, callOf, first, given, inside, replies, table, transcript, verifier } =
  require("./table.cjs");
const { freeze } = inside("shown.cjs");

const RISK = { operation: "assess-risk", observations: { request: "paid",
  attestation: "verified" } };
const owner = new assay.Verifier({ apps: [{ bundleId: "com.example.app", appAppleId: 1 }] });

/** Run the exchange of a case, with the lines of a script as responses: status, headers, body. */
async function play(item, script, options = {}) {
  const asked = [];
  const slept = [];
  let now = item.now;
  const exchange = begun(item);
  const document = await exchange.run(async (request) => {
    asked.push(request);
    const [status, headers, body] = script[asked.length - 1];
    return { id: request.id, status, headers, body: status ? { text: body } : null };
  }, { clock: () => now, sleep: async (ms) => { slept.push(ms); now += ms; }, ...options });
  return { document, asked, slept, exchange };
}

const bodies = (item) => replies(item).filter((each) => each.body).map((each) => each.body.text);

test("an operation without steps is done at once", () => {
  const found = owner.exchange(RISK);
  assert.equal(found.done, true);
  assert.equal(found.document.ok, true);
  assert.equal(found.step, found.document.json.risk);
  assert.ok(found.facts instanceof assay.Risk);
  assert.throws(() => found.reply({}), /the exchange is over/);
  const text = JSON.stringify(RISK);
  for (const form of [RISK, text, Buffer.from(text)]) assert.ok(owner.exchange(form).document.ok);
});

test("a refund is answered by rules, and never without consent", () => {
  const now = first("verify_jws", "ok", { kind: "transaction" }).now;
  const sold = { environment: "Sandbox", bundleId: "com.example.app", transactionId: "1",
    product: "p.1", type: "Consumable", ownership: "PURCHASED", purchasedAtMs: now,
    askedAtMs: now, isGranted: true };
  const ask = (observations, on = verifier("refunds")) =>
    on.assessRefund({ case: sold, observations, now });
  const consent = { isGiven: true, answeredAtMs: now };
  const answer = ask({ consent });
  assert.equal(answer.answer, "send");
  assert.equal(answer.request.operation, "send-consumption-information");
  assert.equal(answer.fields[0].rule, "RFA-13");
  assert.equal(ask({}).request, null);
  assert.equal(ask({ consent }, owner).would, "send");
  assert.throws(() => ask({ consented: true }), assay.MalformedError);
  const units = owner.computeRefundUnits(100, { percentage: 30000, grantedUnits: 80 });
  assert.deepEqual([units.refunded, units.remaining, units.take], [30, 70, 10]);
  assert.throws(() => owner.computeRefundUnits(-1), assay.MisuseError);
});

test("misuse is thrown, and evidence is checked", () => {
  for (const [request, now] of [[{}], [""], ["\ud800"], [RISK, 5]]) {
    assert.throws(() => owner.exchange(request, { now }), assay.MisuseError);
  }
  const item = first("verify_jws", "ok", { kind: "transaction" });
  const proven = verifier(item.verifier).verifyTransaction(item.jws, { now: item.now });
  for (const evidence of [proven, [proven.document]]) { // this operation takes none
    assert.throws(() => verifier(item.verifier).exchange(RISK, { evidence, now: item.now }),
      assay.MisuseError);
  }
});

test("a hop to the other endpoint", async () => {
  const item = transcript("a Sandbox receipt at production");
  const { document, asked } = await play(item, bodies(item).map((body) => [200, [], body]));
  assert.ok(document.ok, document.text);
  assert.deepEqual(asked.map((request) => request.url),
    ["https://buy.itunes.apple.com/verifyReceipt",
      "https://sandbox.itunes.apple.com/verifyReceipt"]);
  assert.ok(document.facts instanceof assay.VerifyReceiptResponse);
  assert.ok(verifier(item.verifier).decide(document, { now: item.now }).document.ok);
});

test("waits, and what is too long to wait for", async () => {
  const item = transcript("a good answer");
  const [good] = bodies(item);
  const one = await play(item, [[503, [["retry-after", "3"]], ""], [0, [], ""], [200, [], good]]);
  assert.ok(one.document.ok, one.document.text);
  assert.deepEqual(one.slept, [3000, 4000]);
  const failed = await play(item, Array(3).fill([500, [], ""]));
  assert.equal(failed.document.status, "unavailable.verify-receipt.no-response");
  assert.deepEqual(failed.document.json.exchange.retry.omitted, ["receipt"]);
  assert.equal(failed.document.facts, null);
  const long = await play(item, [[429, [["retry-after", "60"]], ""]], { maxWaitMs: 10_000 });
  assert.equal(long.document.status, "pending.exchange.wait");
  assert.equal(long.exchange.done, false);
  assert.deepEqual(long.slept, []);
});

test("a wrong reply leaves the step open", async () => {
  const item = transcript("a good answer");
  const exchange = begun(item);
  for (const wrong of [{ id: 0, status: 200, body: null }, {}, "{"]) {
    assert.throws(() => exchange.reply(wrong, { now: item.now }), assay.MisuseError);
    assert.equal(exchange.done, false);
  }
  for (const wrong of [undefined, 5, [1]]) assert.throws(() => exchange.reply(wrong), TypeError);
  await assert.rejects(exchange.run(5), TypeError);
  await assert.rejects(exchange.run({}), TypeError);
  await assert.rejects(exchange.run(() => {}, { patience: 1 }), /there is no option patience/);
  assert.ok(exchange.reply(replies(item)[0], { now: item.now }).ok);
  assert.equal(exchange.done, true);
});

test("one run at a time, and a signal ends it", async () => {
  const item = transcript("a good answer");
  const exchange = begun(item);
  const stop = new AbortController();
  const running = exchange.run((request, { signal }) => new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  }), { signal: stop.signal });
  await assert.rejects(exchange.run(() => ({})), /is being run already/);
  stop.abort(new Error("no more"));
  await assert.rejects(running, /no more/);
  await assert.rejects(exchange.run(() => ({}), { signal: stop.signal }), /no more/);
  assert.equal(exchange.done, false); // the step is still open
  exchange.close();
  assert.equal(exchange.done, true);
});

test("a signal ends a wait", async () => {
  const exchange = begun(transcript("a good answer"));
  const stop = new AbortController();
  const why = new Error("no more");
  const sent = async ({ id }) => {
    setTimeout(() => stop.abort(why), 20);
    return { id, status: 503, headers: [["retry-after", "20"]], body: null };
  };
  const { now } = transcript("a good answer");
  await assert.rejects(exchange.run(sent, { signal: stop.signal, clock: () => now }), why);
  assert.equal(exchange.step.step, "wait");
});

test("nothing secret is printed of a step", () => {
  const seen = new Set();
  for (const item of table().cases.filter((each) => each.call === "transcript")) {
    let exchange;
    try {
      exchange = begun(item);
    } catch {
      continue;
    }
    const { http } = exchange.done ? {} : exchange.step;
    if (http === undefined) continue;
    const request = JSON.parse(given(item, "request"));
    const block = table().verifiers[item.verifier].receipts ?? {};
    const shown = [exchange, exchange.document, exchange.step, http, exchange.document.json,
      [http], { http }].map((each) => inspect(each, { depth: 9 })).join("\n") +
      JSON.stringify([exchange, exchange.document]);
    assert.match(shown, /timeoutMs/);
    for (const secret of [...Object.values(block.sharedSecrets ?? {}), request.deviceToken,
      request.receipt, request.code, "Bearer ", "client_secret", "-----BEGIN"]) {
      if (typeof secret !== "string") continue;
      assert.ok(!shown.includes(secret), `${item.name}: ${secret}`);
      if (exchange.document.text.includes(secret)) seen.add(request.operation);
    }
    exchange.close();
  }
  assert.ok(seen.has("query-device-bits") && seen.has("call-verify-receipt"), [...seen].join());
});

test("a call of a database is printed without its values", () => {
  const step = { id: 1, calls: [{ sql: "SELECT 1", args: ["secret-row"], returnsRows: true },
    { api: "GetItem", input: { key: "secret-row" } }, { script: "s", keys: ["secret-row"],
      args: [] }] };
  const shown = inspect(freeze(step), { depth: 9 });
  assert.ok(shown.includes("SELECT 1") && !shown.includes("secret-row"), shown);
  assert.ok(JSON.stringify(step).includes("secret-row")); // what the host runs is whole
});

test("methods over the network are exchanges", async () => {
  const item = transcript("a good answer");
  const request = JSON.parse(given(item, "request"));
  const [good] = bodies(item);
  const sender = async (asked) => ({ id: asked.id, status: 200, headers: [],
    body: { text: good } });
  const found = await verifier(item.verifier).callVerifyReceipt({ receipt: request.receipt, sender,
    now: item.now, clock: () => item.now });
  assert.ok(found instanceof assay.VerifyReceiptResponse);
  const none = async (asked) => ({ id: asked.id, status: 500, body: null });
  await assert.rejects(verifier(item.verifier).callVerifyReceipt({ receipt: request.receipt,
    sender: none, now: item.now, clock: () => item.now, maxWaitMs: 0 }), assay.PendingError);
  await assert.rejects(owner.callVerifyReceipt({ receipt: 5, sender }), assay.MisuseError);
  const jws = first("verify_jws", "ok", { kind: "transaction" });
  const proven = verifier(jws.verifier).verifyTransaction(...callOf(jws).slice(1));
  await assert.rejects(verifier(jws.verifier).checkRevocation(proven, "sometimes",
    { now: jws.now }),
    assay.MisuseError);
  await assert.rejects(verifier(jws.verifier).checkRevocation(proven), TypeError);
});

test("a request for verifyReceipt is answered, a refused one too", () => {
  const body = '{"receipt-data":"AQIDBA=="}';
  const found = owner.answerVerifyReceipt({ endpoint: "Production", body });
  assert.equal(found.httpStatus, 200);
  assert.equal(found.appleStatus, 21002);
  assert.equal(found.body,
    '{"status":21002,"assay":{"version":1,"status":"rejected.kind.mismatch"}}');
  const bare = owner.answerVerifyReceipt({ endpoint: "Production", body: Buffer.from(body),
    refusals: "measured", base64: "tolerant", ended: "later", mark: false, evidence: [] });
  assert.equal(bare.body, '{"status":21002}');
  assert.throws(() => owner.answerVerifyReceipt({ endpoint: "Sandbox", body }),
    { status: "misuse.exchange.request" });
});
