"use strict";
// The executor for Redis 6 or later, over a client of node-redis 4 or later, or of ioredis: for
// quotas, sign-ups, challenges and recordEvent alone (STO-13).

const { setTimeout: sleep } = require("node:timers/promises");
const { refuse } = require("../arguments.cjs");
const { CONNECT, CallSession, Fault, GRACE_MS, STANDBY, lost, value, within } =
  require("./replies.cjs");

const EVICTING = "evicting";
// How often to look at a server's eviction policy, and how long a connection may take, in
// milliseconds.
const LOOKS_MS = 60_000, CONNECTS_MS = 1000, PAUSE_MS = 20;
// A server's error begins with its code.
const CODE = /^[A-Z][A-Z0-9]+\b/;

/** Whether a server may evict what is stored, by its INFO memory (STO-83). */
function isEvicting(info) {
  const found = Object.fromEntries(String(info).split(/\r?\n/).map((line) => line.split(":")));
  return Number(found.maxmemory) > 0 && found.maxmemory_policy !== undefined &&
    found.maxmemory_policy !== "noeviction";
}

class Redis {
  engine = "redis";
  #client;
  #isDue = true;
  #lookedAt = -Infinity;

  constructor(client) {
    if (typeof client?.call !== "function" && typeof client?.sendCommand !== "function") {
      throw refuse("the first argument", "a client of redis or ioredis", client);
    }
    const isSentAgain = client.options?.autoResendUnfulfilledCommands !== false;
    if (typeof client.call === "function" && isSentAgain) {
      throw new TypeError("set autoResendUnfulfilledCommands: false, because a command that is " +
        "sent again counts twice");
    }
    this.#client = client;
    client.on?.("reconnecting", () => { this.#isDue = true; }); // perhaps to another server
  }

  session() { return new CallSession(this); }

  get #isReady() {
    return this.#client.isReady ?? (this.#client.status ?? "ready") === "ready";
  }

  async #connected() {
    if (this.#client.status === "wait") this.#client.connect().catch(() => {});
    for (const until = performance.now() + CONNECTS_MS; !this.#isReady;) {
      if (performance.now() > until) throw new Fault(CONNECT); // nothing is sent (STO-77)
      await sleep(PAUSE_MS);
    }
  }

  #send(words, { statementMs }) {
    const [name, ...rest] = words.map(String);
    const client = this.#client;
    return within(statementMs + GRACE_MS, typeof client.call === "function"
      ? client.call(name, ...rest) : client.sendCommand([name, ...rest]));
  }

  /** Look at the server before the first command, and after a connection was lost. */
  async #look(limits) {
    const asked = async (...words) => {
      try {
        return await this.#send(words, limits);
      } catch (error) {
        if (String(error.message).startsWith("NOPERM")) return undefined;
        throw error;
      }
    };
    const role = await asked("ROLE");
    if (role === undefined || value(role[0]) !== "master") throw new Fault(STANDBY);
    if (performance.now() - this.#lookedAt >= LOOKS_MS) {
      const info = await asked("INFO", "memory");
      if (info !== undefined && isEvicting(value(info))) throw new Fault(EVICTING);
      this.#lookedAt = performance.now();
    }
    this.#isDue = false;
  }

  /** Send one command, and return its reply as a flat list. */
  async run(call, limits) {
    await this.#connected();
    // The library itself asks for the policy, as check-schema does.
    if (call.command?.[0] === "INFO") this.#lookedAt = performance.now();
    if (this.#isDue) await this.#look(limits);
    const reply = await this.#answer(call, limits);
    return { reply: (Array.isArray(reply) ? reply : [reply]).map(value) };
  }

  async #answer({ command, script, sha1, keys, args }, limits) {
    if (command) return this.#send(command, limits);
    const rest = [keys.length, ...keys, ...args];
    try {
      return await this.#send(["EVALSHA", sha1, ...rest], limits);
    } catch (error) {
      if (!String(error.message).startsWith("NOSCRIPT")) throw error;
      return this.#send(["EVAL", script, ...rest], limits);
    }
  }

  /** An error without a server's code is the client's: the command may or may not have run. */
  fault(error) {
    if (error instanceof Fault) return error;
    const [code] = CODE.exec(error.message) ?? [];
    if (code === "READONLY") return new Fault(STANDBY);
    if (code !== undefined) return new Fault(code);
    this.#isDue = true;
    return lost();
  }
}

module.exports = { Redis };
