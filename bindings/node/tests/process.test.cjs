"use strict";
// Workers, child processes, and processes that end in the middle of calls.

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { dirname, join } = require("node:path");
const test = require("node:test");
const { Worker } = require("node:worker_threads");
const { PACKAGE, first, table } = require("./table.cjs");

const item = first("verify_jws", "ok", { kind: "transaction" });
const config = table().verifiers[item.verifier];
const HEAD = `
  const assay = require(${JSON.stringify(PACKAGE)});
  const item = ${JSON.stringify({ jws: item.jws, now: item.now })},
    config = ${JSON.stringify(config)};
  const owner = new assay.Verifier(config);
  const verify = () => owner.verifyTransaction(item.jws, { now: item.now });`;

function run(code, flags = []) {
  return spawnSync(process.execPath, [...flags, "-e", HEAD + code], { encoding: "utf8",
    timeout: 120_000 });
}

function worker(code) {
  return new Worker(`${HEAD}
    const { parentPort } = require("node:worker_threads");
    ${code}`, { eval: true });
}

const message = (one) => new Promise((resolve, reject) => {
  one.once("message", resolve);
  one.once("error", reject);
});

test("eight workers verify at once, each with its own verifier", async () => {
  const all = Array.from({ length: 8 }, () => worker(`
    let good = 0;
    for (let count = 0; count < 300; count++) good += verify().productId ? 1 : 0;
    owner.async.verifyTransaction(item.jws, { now: item.now })
      .then((found) => parentPort.postMessage(good + (found.productId ? 1 : 0)));`));
  assert.deepEqual(await Promise.all(all.map(message)), Array(8).fill(301));
  await Promise.all(all.map((each) => each.terminate()));
});

test("workers are terminated in calls, and in calls on the thread pool", async () => {
  for (const body of [
    "for (;;) verify();",
    "for (;;) owner.decide([verify(), verify()], { now: item.now }).document.json;",
    "for (;;) { try { owner.verifyTransaction('x'); } catch {} }",
    `const turn = () => { for (let count = 0; count < 20; count++)
       owner.async.verifyTransaction(item.jws, { now: item.now }).catch(() => {});
         setImmediate(turn); };
     turn();`,
    "for (;;) new assay.Verifier(config);",
  ]) {
    for (let count = 0; count < 3; count += 1) {
      const one = worker(`parentPort.postMessage("ready"); ${body}`);
      await message(one);
      await new Promise((resolve) => { setTimeout(resolve, 5 + count * 20); });
      await one.terminate();
    }
  }
});

test("a worker that ends with calls open ends cleanly", () => {
  const done = run(`
    const { Worker } = require("node:worker_threads");
    const one = new Worker(${JSON.stringify(HEAD)} + \`
      for (let count = 0; count < 200; count++) owner.async.verifyTransaction(item.jws);
      const kept = verify(); process.exit(0)\`, { eval: true });
    one.on("exit", (code) => console.log("ended", code, verify().productId.length > 0));`);
  assert.equal(done.stderr, "");
  assert.equal(done.stdout, "ended 0 true\n");
});

test("a process exits with calls open", () => {
  const done = run(`
    for (let count = 0; count < 500; count++) owner.async.verifyTransaction(item.jws,
      { now: item.now });
    const kept = [verify(), verify().document];
    console.log("leaving"); process.exit(3);`);
  assert.deepEqual([done.status, done.stdout, done.stderr], [3, "leaving\n", ""]);
});

test("a cluster's processes each verify", () => {
  const program = join(mkdtempSync(join(tmpdir(), "assay-")), "cluster.cjs");
  writeFileSync(program, `${HEAD}
    const cluster = require("node:cluster");
    const good = verify().productId ? 1 : 0; // before the others are started, and in each of them
    if (cluster.isPrimary) {
      let sum = good;
      cluster.on("message", (each, found) => { sum += found; each.kill(); });
      cluster.on("exit", () => {
        if (Object.keys(cluster.workers).length === 0) console.log(sum);
      });
      for (let count = 0; count < 3; count++) cluster.fork();
    } else {
      owner.async.verifyTransaction(item.jws, { now: item.now })
        .then((found) => process.send(found.productId ? good : 0));
    }`);
  const done = spawnSync(process.execPath, [program], { encoding: "utf8", timeout: 120_000 });
  rmSync(dirname(program), { recursive: true });
  assert.deepEqual([done.stdout, done.stderr], ["4\n", ""]);
});

test("a collection at every call changes nothing", () => {
  const done = run(`
    verify(); // the chain is proven from here on
    const wanted = verify().document.text;
    for (let count = 0; count < 150; count++) {
      const found = verify(); gc();
      if (found.document.text !== wanted) throw new Error("differs");
      const decided = owner.decide([verify(), verify()], { now: item.now }); gc();
      if (!decided.entitled) throw new Error("not entitled");
    }
    console.log("same");`, ["--expose-gc"]);
  assert.deepEqual([done.stdout, done.stderr], ["same\n", ""]);
});
