"use strict";
// The sender against `assay mock-apple` and its faults (PLY-7), by the table of
// Tests/CLI/faults.py.

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { subscribe, unsubscribe } = require("node:diagnostics_channel");
const { createServer } = require("node:http");
const { join } = require("node:path");
const readline = require("node:readline");
const test = require("node:test");
const { assay } = require("./table.cjs");

const FAULTS = join(__dirname, "../../../Tests/CLI/faults.py");
const HOST = "api.storekit.apple.com";
const LONGEST_MS = 2000;
const open = { skip: !process.env.ASSAY_CLI && "ASSAY_CLI does not name the command line" };

/** Start mock Apple until the test ends; return its table. */
async function played(t, ...options) {
  const child = spawn("python3", [FAULTS, process.env.ASSAY_CLI, ...options],
    { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => {
    child.stdin.end();
    return new Promise((resolve) => { child.once("exit", resolve); });
  });
  const lines = readline.createInterface({ input: child.stdout });
  for await (const line of lines) return JSON.parse(line);
  throw new Error("mock Apple said nothing");
}

async function script(bench, rules) {
  const done = await fetch(`${bench.url}/play/script`, { method: "POST",
    body: JSON.stringify(rules) });
  assert.equal(done.status, 200, await done.text());
}

/** A server of this test alone, which notes what it is asked. */
async function echo(t, answer = (request, response) => response.end('{"good":true}')) {
  const seen = [];
  const server = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      seen.push({ method: request.method, path: request.url, headers: request.headers,
        body: Buffer.concat(pieces).toString("latin1") });
      answer(request, response);
    });
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { seen, url: `http://127.0.0.1:${server.address().port}` };
}

const ASKED = { id: 7, method: "POST", url: `https://${HOST}/v1/own?sort=a%20b&c`,
  headers: [["Authorization", "Bearer shared-secret"], ["X-Own", "1"]],
  body: { text: '{"password":"shared-secret"}' }, timeoutMs: 5000, maxResponseBytes: 4096,
  responseHeaders: ["etag", "retry-after"], sensitivePaths: ["headers.authorization", "body"] };

test("every fault has the reply of the table", open, async (t) => {
  const bench = await played(t);
  const sender = new assay.Sender({ hosts: bench.hosts });
  for (const item of bench.answers) {
    await t.test(item.name, async () => {
      await script(bench, item.rules);
      const begin = performance.now();
      const reply = await sender.send(item.request);
      const { status, headers, body, truncated } = item;
      assert.deepEqual(reply, status === 0 ? { id: 7, status: 0, body: null }
        : { id: 7, status, headers, body, truncated });
      assert.ok(!item.late || performance.now() - begin < LONGEST_MS);
    });
  }
});

test("exchanges with faults end as in the table", open, async (t) => {
  const bench = await played(t);
  const owner = new assay.Verifier(bench.config);
  const sender = new assay.Sender({ hosts: bench.hosts });
  for (const item of bench.exchanges) {
    await t.test(item.name, async () => {
      await script(bench, item.rules);
      let now = bench.now;
      let requests = 0;
      const exchange = owner.exchange(item.request, { now });
      const document = await exchange.run((request) => {
        requests += 1;
        return sender.send(request);
      }, { clock: () => now, sleep: async (ms) => { now += ms; }, maxWaitMs: Infinity });
      assert.deepEqual([document.status, requests], [item.status, item.requests]);
    });
  }
});

test("a method against mock Apple", open, async (t) => {
  const bench = await played(t);
  await script(bench, []);
  const owner = new assay.Verifier(bench.config);
  const sender = new assay.Sender({ hosts: bench.hosts });
  const store = owner.appStore({ environment: "auto" });
  const asked = bench.exchanges.find((each) => each.status === "ok" &&
    each.request.operation === "get-transaction-info");
  const clock = () => bench.now;
  const found = await store.getTransactionInfo(asked.request.transactionId,
    { sender, now: bench.now, clock });
  assert.equal(found.transactions[0].document, found.document);
  assert.ok(owner.decide(found, { now: bench.now }).plan);
  await assert.rejects(store.getTransactionInfo("1", { sender, now: bench.now, clock }),
    (error) => error instanceof assay.RejectedError && error.httpStatus === 404);
});

test("what is sent", async (t) => {
  const server = await echo(t);
  const sender = new assay.Sender({ hosts: { [HOST]: server.url } });
  await sender.send(ASKED);
  await sender.send({ ...ASKED, method: "GET", body: null });
  await sender.send({ ...ASKED, body: { base64: "AP8=" } });
  const [one, two, three] = server.seen;
  assert.deepEqual([one.method, one.path, one.body], ["POST", "/v1/own?sort=a%20b&c",
    ASKED.body.text]);
  assert.equal(one.headers.host, HOST);
  assert.equal(one.headers["x-own"], "1");
  assert.equal(one.headers.authorization, "Bearer shared-secret");
  assert.equal(one.headers["accept-encoding"], "identity");
  assert.equal(one.headers.cookie, undefined);
  assert.deepEqual([two.method, two.body], ["GET", ""]);
  assert.equal(three.body, "\0\xff");
});

test("what fetch is asked for, and what it must not do", async (t) => {
  const { gzipSync, deflateSync } = require("node:zlib");
  const plain = Buffer.from('{"good":true}');
  const bomb = gzipSync(Buffer.alloc(64 << 20));
  const ROWS = {
    "/good": [200, { ETag: '"1"', "Set-Cookie": "a=b" }, plain],
    "/late": [200, {}, undefined],
    "/redirect": [302, { Location: "/good" }, ""],
    "/gzip": [200, { "Content-Encoding": "gzip" }, gzipSync(plain)],
    "/bomb": [200, { "Content-Encoding": "gzip" }, bomb],
    "/deflate": [200, { "Content-Encoding": "deflate" }, deflateSync(plain)],
    "/bytes": [200, {}, Buffer.from([255, 0, 1])],
    "/half": [200, { "Content-Length": "100" }, plain],
    "/none": [204, {}, ""],
  };
  const server = await echo(t, (request, response) => {
    const [status, headers, body] = ROWS[request.url];
    response.writeHead(status, headers);
    if (body === undefined) response.write("a");
    else if (request.url === "/half") response.write(body, () => response.destroy());
    else response.end(body);
  });
  const sender = new assay.Sender();
  const ask = (path, more) => sender.send({ ...ASKED, url: server.url + path, timeoutMs: 500,
    ...more });
  const good = { id: 7, status: 200, headers: [["etag", '"1"']], body: { text: plain.toString() },
    truncated: false };
  const none = { id: 7, status: 0, body: null };
  assert.deepEqual(await ask("/good"), good);
  assert.equal((await ask("/good", { maxResponseBytes: plain.length })).truncated, false);
  assert.deepEqual(await ask("/good", { maxResponseBytes: plain.length - 1 }),
    { ...good, body: null, truncated: true });
  assert.deepEqual(await ask("/late"), none);
  assert.equal((await ask("/redirect")).status, 302);
  assert.deepEqual((await ask("/gzip")).body, good.body);
  assert.deepEqual(await ask("/deflate"), none);
  assert.deepEqual((await ask("/bytes")).body, { base64: "/wAB" });
  assert.deepEqual(await ask("/half"), none);
  assert.deepEqual((await ask("/none")).body, { text: "" });
  const before = process.memoryUsage().arrayBuffers;
  assert.equal((await ask("/bomb", { timeoutMs: 5000 })).truncated, true);
  assert.ok(process.memoryUsage().arrayBuffers - before < 8 << 20);
  assert.equal(server.seen.filter(({ path }) => path === "/good").length, 3);
    // no redirect followed
  assert.ok(server.seen.every(({ headers }) => headers["accept-encoding"] === "identity" &&
    !headers.cookie));
});

test("nobody listens, and a certificate that is not trusted", open, async (t) => {
  const gone = new assay.Sender({ hosts: { [HOST]: "http://127.0.0.1:1" } });
  assert.deepEqual(await gone.send(ASKED), { id: 7, status: 0, body: null });
  const bench = await played(t, "--tls");
  const sender = new assay.Sender({ hosts: { "appleid.apple.com": bench.url } });
  const request = { ...ASKED, method: "GET", url: "https://appleid.apple.com/auth/keys",
    body: null };
  assert.equal((await sender.send(request)).status, 0);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  try {
    await assert.rejects(sender.send(request), /turns the check of certificates off/);
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  }
});

test("hosts are of this machine", () => {
  for (const url of ["http://example.com", "https://10.0.0.1", "ftp://127.0.0.1", "127.0.0.1",
    "http://127.0.0.1/path", "http://127.0.0.1.example.com", "http://localhost.example.com",
      "no url"]) {
    assert.throws(() => new assay.Sender({ hosts: { [HOST]: url } }), /this machine/, url);
  }
  assert.ok(new assay.Sender({ hosts: { [HOST]: "http://[::1]:80" } }));
  assert.throws(() => new assay.Sender({ proxy: "x" }), /there is no option proxy/);
});

test("a given fetch, and a signal", async (t) => {
  const asked = [];
  const given = new assay.Sender({ fetch: async (url, how) => { asked.push([url, how]);
    throw new Error("no"); } });
  assert.equal((await given.send(ASKED)).status, 0);
  assert.equal(asked[0][0], ASKED.url);
  assert.equal(asked[0][1].redirect, "manual");
  const server = await echo(t, () => {}); // it never answers
  const sender = new assay.Sender({ hosts: { [HOST]: server.url } });
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("no more")), 50);
  const begin = performance.now();
  await assert.rejects(sender.send(ASKED, { signal: stop.signal }), /no more/);
  assert.ok(performance.now() - begin < LONGEST_MS); // and not when the time-out ends the request
});

test("one message for each request, without secrets", async (t) => {
  const server = await echo(t);
  const seen = [];
  const note = (message) => seen.push(message);
  subscribe("assay:http", note);
  try {
    const sender = new assay.Sender({ hosts: { [HOST]: server.url } });
    await sender.send(ASKED);
    await sender.send({ ...ASKED, sensitivePaths: ["url"] });
  } finally {
    unsubscribe("assay:http", note);
  }
  assert.deepEqual(seen.map(({ ms, ...rest }) => rest), [
    { method: "POST", host: HOST, path: "/v1/own", status: 200 },
    { method: "POST", host: HOST, path: "", status: 200 }]);
});
