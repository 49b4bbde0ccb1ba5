"use strict";
// For tests: evidence that Apple would sign, minted by a test authority of your own, and Apple's
// servers, mocked on this machine. The command line `assay` does the work.

const { spawn, spawnSync } = require("node:child_process");
const { mkdtempSync, readFileSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { Sender, Verifier } = require("./index.cjs");

const LONGEST_MS = 120_000;
const LARGEST = 64 << 20;
// What a configuration trusts, by block.
const ANCHORS = [["storekit", ["anchors"]], ["receipts", ["anchors", "intermediates"]],
  ["attest", ["anchors", "receiptAnchors"]]];

/** Thrown if the options are invalid or do not fit together; the message names the fix. */
class MintError extends Error { name = "MintError"; }

/** Thrown if the mock does not start or refuses a request; the message has the reason. */
class MockError extends Error { name = "MockError"; }

/** Return the command line `assay`: that of ASSAY_PROGRAM, or the one on PATH. */
function program() {
  return process.env.ASSAY_PROGRAM ?? "assay";
}

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Return `--name=value` for each value; nothing for null and false. */
function words(name, value) {
  if (value === undefined || value === null || value === false) return [];
  if (value === true) return [`--${name}`];
  if (value instanceof Date) return [`--${name}=${value.getTime()}`];
  if (Array.isArray(value)) return value.map((each) => `--${name}=${each}`);
  if (typeof value !== "object") return [`--${name}=${value}`];
  return Object.entries(value).map(([member, each]) =>
    `--${name}=${member}=${JSON.stringify(each)}`);
}

/** A test authority: keys, roots, and what they sign. */
class Authority {
  #app;
  #verifier;

  constructor(folder, { bundleId = "com.example.app", appId = 1234567890, team = "ABCDE12345",
    now } = {}) {
    if (folder === undefined) {
      this.folder = mkdtempSync(join(tmpdir(), "assay-testing-"));
      process.once("exit", () => rmSync(this.folder, { recursive: true, force: true }));
    } else {
      this.folder = String(folder);
    }
    this.now = now;
    this.#app = { bundleId, appId, team };
    this.transaction(); // the first evidence creates the folder
  }

  #read(name) {
    return JSON.parse(readFileSync(join(this.folder, name), "utf8"));
  }

  get config() {
    const found = this.#read("config.json");
    found.apps[0].teamId = this.#app.team;
    return found;
  }

  get verifier() {
    return this.#verifier ??= new Verifier(this.config);
  }

  trusting(config) {
    const found = JSON.parse(typeof config === "string" ? config : JSON.stringify(config));
    const attests = found.attest !== undefined || found.apps?.some((app) => app.teamId);
    const mine = this.config;
    for (const [block, names] of ANCHORS) {
      if (block === "attest" && !attests) continue;
      for (const name of names.filter((each) => mine[block]?.[each] !== undefined)) {
        (found[block] ??= {})[name] = mine[block][name];
      }
    }
    return new Verifier(found);
  }

  mint(kind, options = {}) {
    const given = Object.entries({ now: this.now, ...this.#app, ...options });
    const done = spawnSync(program(), ["mint", kind, "--authority", this.folder,
      ...given.flatMap(([name, value]) => words(kebab(name), value))],
    { stdio: ["ignore", "pipe", "pipe"], timeout: LONGEST_MS, maxBuffer: LARGEST });
    if (done.error) throw new MintError(`${program()}: ${done.error.message}`);
    if (done.status !== 0) throw new MintError(done.stderr.toString().trim());
    return done.stdout;
  }

  #text(kind, options) {
    return this.mint(kind, options).toString().trim();
  }

  transaction(options) { return this.#text("transaction", options); }
  renewalInfo(options) { return this.#text("renewal-info", options); }
  notification(type = "SUBSCRIBED", options = {}) {
    return this.#text("notification", { notificationType: type, ...options });
  }
  appTransaction(options) { return this.#text("app-transaction", options); }
  realtimeRequest(options) { return this.#text("realtime-request", options); }
  transactionReceipt(options) { return this.#text("transaction-receipt", options); }
  appReceipt(options) { return this.#text("app-receipt", options); }
  verifyReceiptResponse(options) { return this.#text("verify-receipt-response", options); }
  attestReceipt(options) { return this.#text("attest-receipt", options); }

  attestation(clientData = "hello", options = {}) {
    const object = this.mint("attestation", { transport: "raw", clientData, ...options });
    return { object, keyId: this.#read("device.json").keyId, clientData };
  }

  assertion(clientData = "hello", counter = 1, options = {}) {
    const object = this.mint("assertion", { transport: "raw", clientData, counter, ...options });
    return { object, publicKey: this.#read("device.json").publicKey, clientData, counter };
  }
}

/** A server of this machine that behaves like Apple's, until it is closed. */
class MockApple {
  #process;

  constructor(authority, child, first) {
    this.#process = child;
    this.authority = authority;
    this.url = first.url;
    this.hosts = Object.fromEntries(first.hosts.map((host) => [host, first.url]));
    this.config = JSON.parse(readFileSync(first.config, "utf8"));
  }

  static async start(authority, { clock, script, state } = {}) {
    const child = spawn(program(), ["mock-apple", "--authority", authority.folder,
      ...words("clock", clock ?? "live"), ...words("state", state)]);
    const apple = new MockApple(authority, child, await firstLine(child));
    // It ends with its standard input, so that a test that forgets it ends as well.
    for (const each of [child, child.stdin, child.stdout, child.stderr]) each.unref();
    try {
      if (script !== undefined) await apple.play("script", script);
    } catch (error) {
      await apple.close();
      throw error;
    }
    return apple;
  }

  get verifier() { return new Verifier(this.config); }
  get sender() { return new Sender({ hosts: this.hosts }); }

  play(name, body) {
    return this.#ask(`/play/${name}`, { method: "POST", body: JSON.stringify(body) });
  }

  async log() {
    return (await this.#ask("/play/log")).log;
  }

  async #ask(path, how) {
    const response = await fetch(this.url + path, how);
    const text = await response.text();
    if (response.status !== 200) throw new MockError(text || `${path}: ${response.status}`);
    return JSON.parse(text);
  }

  async close() {
    const child = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const over = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    await over;
  }
}
if (Symbol.asyncDispose) MockApple.prototype[Symbol.asyncDispose] = MockApple.prototype.close;

/** Return the JSON of the first line that a program prints. */
function firstLine(child) {
  return new Promise((resolve, reject) => {
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (piece) => {
        said[name] += piece;
        if (said.stdout.includes("\n")) resolve(JSON.parse(said.stdout.split("\n")[0]));
      });
    }
    child.once("error", (error) => reject(new MockError(`${program()}: ${error.message}`)));
    child.once("close", () => reject(new MockError(said.stderr.trim())));
  });
}

module.exports = { Authority, MintError, MockApple, MockError, program };
