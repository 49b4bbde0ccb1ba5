"use strict";
// Which addon and which library are loaded, and what the errors say.

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { copyFileSync, cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } =
  require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const test = require("node:test");
const { PACKAGE, assay, inside, native } = require("./table.cjs");
const { chooseLibrary, loadAddon, openLibrary, platform } = inside("load.cjs");

const folder = realpathSync(mkdtempSync(join(tmpdir(), "assay-")));
test.after(() => rmSync(folder, { recursive: true }));

/** Run a program with a copy of the package. */
function run(name, code, { environment = {}, flags = [], change = () => {} } = {}) {
  const place = join(folder, name, "node_modules", "assay");
  cpSync(PACKAGE, place, { recursive: true });
  change(join(place, "prebuilds", platform));
  const { ASSAY_LIBRARY: _, LD_LIBRARY_PATH: __, ...rest } = process.env;
  return spawnSync(process.execPath, [...flags, "--input-type=module", "-e", code],
    { encoding: "utf8", cwd: join(folder, name), env: { ...rest, ...environment } });
}

const SAY = "import { libraryPath } from 'assay'; console.log(libraryPath)";

test("import and require have the same classes and every name", async () => {
  const done = run("both", `
    import * as names from "assay";
    import { createRequire } from "node:module";
    const required = createRequire(import.meta.url)("assay");
    const missing = Object.keys(required).filter((name) => names[name] !== required[name]);
    console.log(JSON.stringify([missing, Object.keys(names).length,
      Object.keys(required).length]));`);
  assert.equal(done.stderr, "");
  const [missing, imported, required] = JSON.parse(done.stdout);
  assert.deepEqual(missing, []);
  assert.equal(imported, required + 1); // default
});

test("the library beside the addon, unless the variable names another", () => {
  const beside = join(folder, "beside", "node_modules", "assay", "prebuilds", platform,
    "libassay.so.0");
  const system = join(folder, "beside");
  assert.equal(run("beside", SAY).stdout, `${beside}\n`);
  // A search path cannot put another one in its place.
  writeFileSync(join(system, "libassay.so.0"), "no library");
  assert.equal(run("beside", SAY, { environment: { LD_LIBRARY_PATH: system } }).stdout,
    `${beside}\n`);
  const other = join(folder, "other.so");
  copyFileSync(assay.libraryPath, other);
  assert.equal(run("named", SAY, { environment: { ASSAY_LIBRARY: other } }).stdout, `${other}\n`);
  copyFileSync(assay.libraryPath, join(system, "libassay.so.0"));
  assert.equal(run("system", SAY,
    { environment: { ASSAY_LIBRARY: "system", LD_LIBRARY_PATH: system } }).stdout,
  "libassay.so.0\n");
});

test("a library that cannot be used", () => {
  const gone = run("gone", SAY, { environment: { ASSAY_LIBRARY: "/nowhere/libassay.so.0" } });
  assert.match(gone.stderr, /\/nowhere\/libassay\.so\.0, named by ASSAY_LIBRARY: no such file/);
  const none = run("none", SAY, { change: (place) => rmSync(join(place, "libassay.so.0")) });
  assert.match(none.stderr, /beside the addon: no such file\. Set ASSAY_LIBRARY/);
  const text = run("text", SAY,
    { change: (place) => writeFileSync(join(place, "libassay.so.0"), "text") });
  assert.match(text.stderr, /no usable libassay\.so\.0: .*(too short|invalid ELF|Exec format)/);
  const another = run("another", SAY, { environment: { ASSAY_LIBRARY: "libc.so.6" } });
  assert.match(another.stderr, /not libassay .* it has no assay_version_number/);
  const system = run("nosystem", SAY, { environment: { ASSAY_LIBRARY: "system" } });
  assert.match(system.stderr, /by the system's loader, as ASSAY_LIBRARY says: .*(cannot open|No such file)/);
});

test("a long name of a library is used as a whole", () => {
  assert.ok(native.open(`${"/.".repeat(900)}${assay.libraryPath}`));
  assert.throws(() => native.open(`${"/.".repeat(3000)}${assay.libraryPath}`), /name is too long/);
  for (const wrong of [undefined, null, 5, Buffer.from("x")]) assert.throws(() => native.open(wrong));
});

test("an older library, and one of another ABI", () => {
  const place = join(PACKAGE, "prebuilds", platform);
  assert.throws(() => openLibrary(native, place, {}, [10 ** 8, 0]), /it is 0\.1\.0, and .* needed/);
  assert.throws(() => openLibrary(native, place, {}, [0, 77]),
    /it has ABI 0, and ABI 77 is needed/);
  assert.deepEqual(chooseLibrary("/a", { ASSAY_LIBRARY: "" }),
    ["/a/libassay.so.0", "beside the addon"]);
});

test("an addon that is not there, or that Node.js may not load", () => {
  assert.throws(() => loadAddon(join(PACKAGE, "prebuilds"), "linux-s390x-glibc"), (error) =>
    error.code === "ERR_ASSAY_LOAD" && /no addon for linux-s390x-glibc/.test(error.message));
  const damaged = run("damaged", SAY,
    { change: (place) => writeFileSync(join(place, "assay.node"), "text") });
  assert.match(damaged.stderr, /cannot be loaded: .*It needs glibc 2\.34/);
  const forbidden = run("forbidden", SAY, { flags: ["--no-addons"] });
  assert.match(forbidden.stderr, /was told to load no addons/);
});

test("the addon imports nothing but the C library, and names no path", () => {
  const text = readFileSync(join(PACKAGE, "prebuilds", platform, "assay.node"), "latin1");
  assert.ok(!/libassay\.so/.test(text));
  assert.equal(assay.version, "0.1.0");
  assert.equal(assay.buildInfo.abi, 0);
  assert.ok(Object.isFrozen(assay.buildInfo));
});
