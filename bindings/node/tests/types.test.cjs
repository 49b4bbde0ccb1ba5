"use strict";
// The declarations under `tsc --strict`: uses that it must accept, as a module and as CommonJS, and
// wrong ones, each of which it must refuse.

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } =
  require("node:fs");
const { tmpdir } = require("node:os");
const { dirname, join } = require("node:path");
const test = require("node:test");
const { PACKAGE, assay } = require("./table.cjs");

const folder = mkdtempSync(join(tmpdir(), "assay-"));
test.after(() => rmSync(folder, { recursive: true }));
symlinkSync(dirname(PACKAGE), join(folder, "node_modules"));
for (const [from, to] of [["uses.mts", "uses.mts"], ["uses.mts", "uses.cts"],
  ["uses.mts", "old.ts"], ["wrong.cts", "wrong.cts"], ["ledger.cts", "ledger.cts"],
  ["ledger.cts", "oldledger.ts"], ["testing.cts", "testing.cts"],
  ["testing.cts", "oldtesting.ts"]]) copyFileSync(join(__dirname, "types", from), join(folder, to));

const found = spawnSync("tsc", ["--version"]).status === 0;
const open = { skip: !found && "no tsc on PATH: install Debian's node-typescript" };

/** Return what the compiler says of files; the declarations of Node.js itself are left out. */
function tsc(options, ...files) {
  const compilerOptions = { strict: true, noEmit: true, target: "es2022", lib: ["es2022", "dom"],
    types: [], ...options };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const done = spawnSync("tsc", ["-p", "tsconfig.json"], { cwd: folder, encoding: "utf8" });
  return done.stdout.split("\n").filter(Boolean).slice(0, 20);
}
const NODE16 = { module: "node16", moduleResolution: "node16" };

test("what it must accept, and every wrong use", open, () => {
  assert.deepEqual(tsc(NODE16, "uses.mts", "uses.cts", "wrong.cts", "ledger.cts",
    "testing.cts"), []);
});

test("the older resolution of modules", open, () => {
  assert.deepEqual(tsc({ module: "commonjs", moduleResolution: "node" },
    "old.ts", "oldledger.ts", "oldtesting.ts"), []);
});

test("declared names are those that are exported", open, () => {
  const names = Object.keys(assay);
  writeFileSync(join(folder, "names.cts"),
    `import * as assay from "assay";\n${names.map((name) => `assay.${name};`).join("\n")}\n`);
  const missing = tsc(NODE16, "names.cts").map((line) => /error TS\d+: (.*)/.exec(line)[1]);
  // Parts of a verifier are its properties: their types cannot be constructed.
  assert.deepEqual(missing.filter((line) =>
    !/'(AppStore|AsyncVerifier|DeviceCheckClient|Sessions|Signer)'/.test(line)), []);
});

test("every declared value is exported", () => {
  for (const [module, files] of [["index.cjs", ["index", "generated/facts",
    "generated/kinds", "generated/operations"]],
    ["ledger.cjs", ["ledger", "generated/ledger"]]]) {
    const exported = require(join(PACKAGE, module));
    for (const file of files) {
      const text = readFileSync(join(PACKAGE, `${file}.d.cts`), "utf8");
      for (const [, name] of text.matchAll(/^export (?:abstract )?(?:class|const|function) (\w+)/gm)) {
        assert.ok(Object.hasOwn(exported, name), `${module} has no ${name}`);
      }
    }
  }
});

test("the library takes every declared observation, and no other", () => {
  const text = readFileSync(join(PACKAGE, "index.d.cts"), "utf8");
  const [, body] = /interface Observations \{(.*?)\n\}/s.exec(text);
  const owner = new assay.Verifier({ apps: [{ bundleId: "com.example.app", appAppleId: 1 }] });
  const required = { request: "paid", attestation: "absent" };
  const sample = (kind) => ({ number: 1, Ms: 1_700_000_000_000, boolean: true })[kind] ?? null;
  const declared = body.replace(/\/\*\*.*?\*\//gs, "");
  let count = 0;
  for (const [, name, type] of declared.matchAll(/^ {2}(\w+)\??: (.*?);$/gms)) {
    const inner = [...type.matchAll(/(\w+)\?: (\w+)/g)];
    const values = inner.length ? inner.map(([, each, kind]) => ({ [each]: sample(kind) }))
      : [...type.matchAll(/"([^"]+)"/g)].map(([, each]) => each).concat(sample(type.split(" ")[0]));
    for (const value of values) {
      if (value === null && !type.includes("null")) continue;
      owner.assessRisk({ ...required, [name]: value });
      count += 1;
    }
    if (type.includes('"')) {
      assert.throws(() => owner.assessRisk({ ...required, [name]: "x" }), assay.MalformedError);
    }
  }
  assert.ok(count > 45, `${count}`);
  assert.throws(() => owner.assessRisk({ ...required, rest: 1 }), assay.MalformedError);
});
