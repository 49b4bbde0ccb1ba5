"use strict";
// Documents, and the base of the classes of facts, which are generated.

const { inspect } = require("node:util");
const { native } = require("./load.cjs");
const { PLAIN, own, refuse } = require("./arguments.cjs");
const { freeze } = require("./shown.cjs");
const { refusal, refusalOfStatus, statusName } = require("./errors.cjs");
const { pathTo, sourceOf } = require("./source.cjs");

// What objects that only the library makes are constructed with.
const MADE = Symbol("made by the library");

function demand(key, name) {
  if (key !== MADE) throw new TypeError(`${name} is made by a Verifier, from what it verified`);
}

let handleOf, parsed, factsAlone;

class Document {
  #handle;
  #text;
  #json;
  #alone; // the facts under their name, if they were parsed before the rest
  #facts;
  #code;

  static {
    handleOf = (document) => document.#open();
    parsed = (document) =>
      document.#json ??= Object.assign(JSON.parse(document.text), document.#alone);
    // The facts are the last member of a document (DOC-7). Only a name has quotes without a
    // backslash, so that its first place is the member itself.
    factsAlone = (document, name) => {
      const { text } = document, place = text.indexOf(`,"${name}":{`);
      if (document.#json !== undefined || place < 0) return own(parsed(document), name);
      document.#alone ??= { [name]: JSON.parse(text.slice(place + name.length + 4, -1)) };
      return document.#alone[name];
    };
  }

  constructor(key, handle, code) {
    demand(key, "a Document");
    this.#handle = handle;
    this.#code = code;
  }

  /** What a call without typed facts returns. */
  static read(document) {
    return document;
  }

  #open() {
    if (this.#handle === undefined) throw new Error("the document is closed");
    return this.#handle;
  }

  get code() { return this.#code; }
  get ok() { return this.#code === 0; }
  get status() { return statusName(this.#code); }
  get kind() { return own(parsed(this), "kind") ?? ""; }
  get text() { return this.#text ??= native.text(this.#open()); }
  get json() { return freeze(parsed(this)); }
  get checks() { return freeze(own(parsed(this), "checks") ?? []); }
  get warnings() { return freeze(own(parsed(this), "warnings") ?? []); }
  get error() { return freeze(own(parsed(this), "error") ?? null); }

  get facts() {
    return this.#facts ??= require("./kinds.cjs").factsOf(this);
  }

  throwIfFailed() {
    if (this.#code !== 0) throw refusal(this);
  }

  close() {
    if (this.#handle !== undefined) native.close(this.#handle);
    this.#handle = undefined;
  }

  toJSON() {
    return { kind: this.kind, ok: this.ok, status: this.status };
  }

  [inspect.custom]() {
    return `<assay.Document ${this.kind}: ${this.status}>`;
  }
}

/** Return the document that a call made; a call without one throws. */
function made(handle, code) {
  if (handle === undefined) throw refusalOfStatus(code);
  return new Document(MADE, handle, code);
}

let valuesOf, documentOf;

/** The base of facts and of the objects inside them. Only own members count. */
class Members {
  #document;
  #values;
  static at = [];
  static shown = [];
  static hidden = [];
  static payload = false; // whether the signed JSON stands in the member `payload`
  static isLast = true; // whether no other member follows the facts in the document

  static {
    documentOf = (members) => members.#document;
    valuesOf = (members) => members.#values ??= members.#read() ?? {};
  }

  #read() {
    const { at, isLast } = this.constructor;
    return isLast && at.length === 1
      ? factsAlone(this.#document, at[0]) : find(parsed(this.#document), at);
  }

  constructor(key, document, values) {
    demand(key, new.target.name);
    this.#document = document;
    this.#values = values;
  }

  /** Return the facts of an accepted document; a refusal is thrown. */
  static read(document) {
    if (document.code !== 0 && !this.allows(document)) throw refusal(document);
    return new this(MADE, document);
  }

  /** Whether a refusal is a result of the call, and no error. */
  static allows() {
    return false;
  }

  get payload() {
    const values = valuesOf(this);
    return freeze(this.constructor.payload ? own(values, "payload") ?? {} : values);
  }

  get payloadText() {
    const { payload } = this;
    const path = pathTo(parsed(this.#document), payload);
    return path === undefined ? JSON.stringify(payload) : sourceOf(this.#document.text, path);
  }

  get [PLAIN]() { return valuesOf(this); }

  /** Return the names of the typed members, those of bases first. */
  static names() {
    const found = this === Members ? [] : Object.getPrototypeOf(this).names();
    if (this === Members) return found;
    const own = Object.getOwnPropertyDescriptors(this.prototype);
    for (const [name, { get }] of Object.entries(own)) {
      if (get && name !== "document" && !found.includes(name)) found.push(name);
    }
    return found;
  }

  toJSON() {
    return pick(this, this.constructor.names().filter((name) =>
      !this.constructor.hidden.includes(name)));
  }

  [inspect.custom](depth, options) {
    const found = pick(this, this.constructor.shown);
    return `${this.constructor.name} ${inspect(found, { ...options, depth: options.depth })}`;
  }
}

/** Return members that are there, by name; a time once, as milliseconds. */
function pick(members, names) {
  const found = {};
  for (const name of names) {
    const value = members[name];
    if (value !== null && !(value instanceof Date)) found[name] = value;
  }
  return found;
}

function find(value, path) {
  for (const step of path) {
    if (value === null || typeof value !== "object") return undefined;
    value = own(value, step);
  }
  return value;
}

// ---- what the generated getters read with: a member of another type is as good as none

const isObject = (value) => typeof value === "object" && value !== null;
const here = (members, key) => own(valuesOf(members), key);
const signed = (members, key) => own(own(valuesOf(members), "payload") ?? {}, key);
const beside = (members, key) => own(parsed(documentOf(members)), key);

const text = (value) => typeof value === "string" ? value : null;
const number = (value) => typeof value === "number" ? value : null;
const boolean = (value) => typeof value === "boolean" ? value : null;
const date = (value) => typeof value === "number" ? new Date(value) : null;
const octets = (value) => typeof value === "string"
  ? new Uint8Array(Buffer.from(value, "base64")) : null;
const json = (value) => freeze(value ?? null);
const list = (value, read) => Object.freeze(Array.isArray(value) ? value.map(read) : []);

/** Return an object inside of facts, of a class of its own. */
function nested(members, value, Class) {
  return isObject(value) ? new Class(MADE, documentOf(members), value) : null;
}

// ---- members that follow from the status of the document

/** What follows from the status of a decision. */
class Ruling extends Members {
  static allows(document) { return document.status === "rejected.decision.not-entitled"; }
}

/** What follows from the status of a risk assessment. */
class Advice extends Members {
  static allows(document) { return document.status.startsWith("rejected.risk."); }
  get allowed() { return documentOf(this).ok; }
  get status() { return documentOf(this).status; }
  get httpStatus() { return native.statusHttp(documentOf(this).code); }
}

/** What follows from the document of a triage beside the finding. */
class Finding extends Members {
  static isLast = false;
  static allows(document) { return !/^(misuse|internal)\b/.test(document.status); }
  get worthVerifying() { return documentOf(this).status.startsWith("pending."); }
  get status() { return documentOf(this).status; }
  get httpStatus() {
    return this.worthVerifying ? null : native.statusHttp(documentOf(this).code);
  }
}

/** What follows from the status of an answer in Apple's words: a refusal has one, too. */
class Reply extends Members {
  static allows(document) { return !/^(misuse|config)\b/.test(document.status); }
}

/** What follows from the status of an answer about a refund: whatever the rules say is one. */
class RefundReply extends Members {
  static allows(document) { return /^(rejected|unavailable)\.refund\./.test(document.status); }
}

/** Return the document behind evidence: itself, that of facts, or that of a key set. */
function behind(item) {
  if (item instanceof Document) return item;
  if (item instanceof Members) return item.document;
  return item?.facts instanceof Members ? item.facts.document : undefined;
}

/** Return the handles of the documents behind evidence, each once. */
function evidenceOf(evidence) {
  const isList = typeof evidence?.[Symbol.iterator] === "function" && typeof evidence !== "string";
  const found = new Set();
  for (const item of isList ? evidence : [evidence]) {
    const document = behind(item);
    if (document === undefined) {
      throw refuse("evidence", "documents or facts of a Verifier, never JSON", item);
    }
    found.add(document);
  }
  return [...found].map(handleOf);
}

module.exports = { MADE, Document, Members, Ruling, Advice, Finding, Reply, RefundReply,
  made, parsed, demand,
  find, evidenceOf, documentOf, here, signed, beside, text, number, boolean, date, octets, json,
  list, nested };
