"use strict";
// The public keys of token issuers: given as text, or fetched when they are needed.

const { inspect } = require("node:util");
const { IssuerKeys } = require("../generated/facts.cjs");
const { native } = require("./load.cjs");
const { jsonText, nowOf, options, refuse, signed } = require("./arguments.cjs");
const { made } = require("./document.cjs");
const { AssayError, refusal } = require("./errors.cjs");

let keysetHandle;

class Keyset {
  #handle;
  #facts;

  static {
    keysetHandle = (keys) => {
      if (!(keys instanceof Keyset)) throw refuse("keys", "a Keyset", keys);
      if (keys.#handle === undefined) throw new Error("the key set is closed");
      return keys.#handle;
    };
  }

  constructor(jwks) {
    const [found, handle] = native.run(native.operations.keysetNew, jsonText(jwks, "jwks"));
    const document = made(found, native.status[0]);
    if (handle === undefined) throw refusal(document);
    this.#facts = IssuerKeys.read(document);
    this.#handle = handle;
  }

  get facts() { return this.#facts; }
  get closed() { return this.#handle === undefined; }

  close() {
    if (this.#handle !== undefined) native.close(this.#handle);
    this.#handle = undefined;
  }

  [inspect.custom]() { return `<assay.Keyset${this.closed ? " (closed)" : ""}>`; }
}

/** Return the key id of a token: a hint for the library, not verified. */
function kidOf(token) {
  const head = (typeof token === "string" ? token : Buffer.from(token).toString()).split(".")[0];
  try {
    const { kid } = JSON.parse(Buffer.from(head, "base64url"));
    return typeof kid === "string" ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** Return whether new keys may help: the key is unknown, or the set too old. */
function wantsKeys(error) {
  if (!(error instanceof AssayError)) return false;
  return error.status === "unavailable.token.keyset-too-old" ||
    (error.status === "rejected.token.unknown-key" && error.document?.error.keyset === "refresh");
}

/** The key sets of the issuers of a verifier, one request at a time for each issuer; the library
 * says how soon the next may follow (docs/spec/access-tokens.md). */
class KeysetCache {
  #verifier;
  #sender;
  #load;
  #save;
  #clock;
  #known = new Map(); // issuer -> promise of what is known
  #flights = new Map();

  constructor(verifier, given) {
    const { sender, load, save, clock = Date.now } =
      options(given, ["sender", "load", "save", "clock"]);
    [this.#verifier, this.#sender, this.#load, this.#save, this.#clock] =
      [verifier, sender, load, save, clock];
  }

  async verifyToken(token, issuer, given) {
    signed(token, "token");
    const keys = await this.keyset(issuer);
    let found;
    try {
      found = this.#verifier.verifyToken(token, keys, given);
    } catch (error) {
      if (!wantsKeys(error)) throw error;
      const fresh = await this.refresh(issuer, keys, kidOf(token));
      if (fresh === keys) throw error;
      return this.#verifier.verifyToken(token, fresh, given);
    }
    if (found.keyset.stale) await this.refresh(issuer, keys);
    return found;
  }

  async keyset(issuer) {
    return (await this.#knownOf(issuer)).keys ?? this.refresh(issuer);
  }

  /** Return a key set newer than the old one, or the old one if there is none. */
  async refresh(issuer, old, wantKid) {
    const known = await this.#knownOf(issuer);
    if (known.keys !== undefined && known.keys !== old) return known.keys;
    if (!this.#flights.has(issuer)) {
      this.#flights.set(issuer, this.#fetched(issuer, known, wantKid)
        .finally(() => this.#flights.delete(issuer)));
    }
    return this.#flights.get(issuer);
  }

  #knownOf(issuer) {
    if (!this.#known.has(issuer)) {
      const loaded = this.#loaded(issuer);
      this.#known.set(issuer, loaded);
      loaded.catch(() => this.#known.delete(issuer));
    }
    return this.#known.get(issuer);
  }

  async #loaded(issuer) {
    const kept = await this.#load?.(issuer);
    if (kept === undefined || kept === null) return {};
    const { keyset, state } = JSON.parse(kept);
    return { text: keyset ?? undefined, state: state ?? undefined,
      keys: keyset ? new Keyset(keyset) : undefined };
  }

  async #fetched(issuer, known, wantKid) {
    const exchange = this.#verifier.exchange({ operation: "fetch-keyset", issuer,
      state: known.state, wantKid, keyset: known.text }, { now: nowOf(this.#clock()) });
    // No waiting: the only wait is the cooldown, during which the old set remains in use.
    const document = await exchange.run(this.#sender, { maxWaitMs: 0, clock: this.#clock });
    exchange.close();
    const found = document.json.exchange ?? {};
    known.state = found.keysetState ?? known.state;
    if (document.ok) {
      if (known.keys === undefined || found.keyset !== known.text) {
        known.keys = new Keyset(found.keyset);
      }
      known.text = found.keyset;
    }
    if (known.keys === undefined) document.throwIfFailed();
    await this.#save?.(issuer, JSON.stringify({ keyset: known.text, state: known.state }));
    return known.keys;
  }
}

module.exports = { Keyset, KeysetCache, keysetHandle };
