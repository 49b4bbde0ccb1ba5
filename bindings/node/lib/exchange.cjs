"use strict";
// Exchanges with the network or a ledger, one step at a time, to which the host replies.

const { inspect } = require("node:util");
const { setTimeout: sleep } = require("node:timers/promises");
const { native } = require("./load.cjs");
const { jsonText, nowOf, options, refuse, timeOf } = require("./arguments.cjs");
const { MADE, demand, made } = require("./document.cjs");
const { MisuseError, refusal } = require("./errors.cjs");

const { exchangeNew, exchangeStep } = native.operations;
const LONGEST_WAIT_MS = 30_000;
const isOpen = (document) => document.status.startsWith("pending.");
const isWrong = (document) => /^(misuse|internal)\b/.test(document.status);

/** Wait so long; a signal that ends it is thrown as its reason, as between two steps. */
async function pause(ms, signal, wait = sleep) {
  try {
    if (ms > 0) await wait(ms, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

class Exchange {
  #handle;
  #document;
  #isRunning = false;

  constructor(key, document, handle) {
    demand(key, "an Exchange");
    this.#document = document;
    if (isWrong(document)) throw refusal(document);
    if (isOpen(document)) this.#handle = handle;
    else if (handle !== undefined) native.close(handle);
  }

  static start(verifier, request, evidence, now) {
    const [document, handle] = native.run(exchangeNew, verifier, request, evidence, now);
    return new Exchange(MADE, made(document, native.status[0]), handle);
  }

  get document() { return this.#document; }
  get facts() { return this.#document.facts; }
  get done() { return this.#handle === undefined; }

  /** The open step, or the result: the member of the document that is named after its kind. */
  get step() {
    return this.#document.json[this.#document.kind] ?? {};
  }

  /** Pass the reply to the open step; returns the document of the next one, or of the result. */
  reply(reply, given) {
    const [text, now] = [jsonText(reply, "reply"), timeOf(given)];
    if (this.#handle === undefined) throw new Error("the exchange is over");
    const document = made(native.run(exchangeStep, this.#handle, text, now), native.status[0]);
    const error = isWrong(document) ? refusal(document) : undefined;
    if (error instanceof MisuseError) throw error; // the step is still open
    this.#document = document;
    if (!isOpen(document)) this.close();
    if (error !== undefined) throw error;
    return document;
  }

  /** Perform all steps, and return the last document; a refusal is a result. */
  async run(host, given) {
    const { maxWaitMs = LONGEST_WAIT_MS, signal, clock = Date.now, sleep: wait = sleep } =
      options(given, ["maxWaitMs", "signal", "clock", "sleep"]);
    const send = senderOf(host);
    if (this.#isRunning) throw new Error("the exchange is being run already");
    this.#isRunning = true;
    try {
      while (!this.done) {
        signal?.throwIfAborted();
        const { step, http, notBeforeMs } = this.step;
        let reply = {};
        if (step === "http") {
          reply = await send(http, { signal });
        } else if (step === "wait") {
          const left = notBeforeMs - nowOf(clock());
          if (left > maxWaitMs) break;
          await pause(left, signal, wait);
        } else {
          throw new TypeError(`the step ${step} is none of a sender's`);
        }
        this.reply(reply, { now: clock() });
      }
      return this.#document;
    } finally {
      this.#isRunning = false;
    }
  }

  close() {
    if (this.#handle !== undefined) native.close(this.#handle);
    this.#handle = undefined;
  }

  [inspect.custom]() { return `<assay.Exchange: ${this.#document.status}>`; }
}

/** Return the function that sends a request: that of a sender, one that was given, or a new one. */
function senderOf(host) {
  const { Sender } = require("./http.cjs");
  const chosen = host ?? new Sender();
  if (typeof chosen === "function") return chosen;
  if (typeof chosen.send === "function") return (request, how) => chosen.send(request, how);
  throw refuse("the host of an exchange", "a Sender or a function", host);
}

module.exports = { Exchange, LONGEST_WAIT_MS, pause, senderOf };
