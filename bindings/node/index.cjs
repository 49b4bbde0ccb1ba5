"use strict";
// Verification of what Apple signs. index.mjs and the types are made from what stands here.

const { library, ...loading } = require("./lib/load.cjs");
const { Document, Members } = require("./lib/document.cjs");
const { refusal, refusalOfStatus, statusName, ...errors } = require("./lib/errors.cjs");
const { Keyset, KeysetCache } = require("./lib/keysets.cjs");

// `using` and `await using` close what was opened, where the language has them.
const { Exchange } = require("./lib/exchange.cjs");
const verifiers = require("./lib/verifier.cjs");
for (const Class of [Document, Exchange, Keyset, verifiers.Verifier]) {
  if (Symbol.dispose) Class.prototype[Symbol.dispose] = Class.prototype.close;
}

module.exports = {
  version: require("./generated/constants.cjs").VERSION,
  buildInfo: library.buildInfo,
  libraryPath: library.path,
  libraryVersion: library.version,
  ...verifiers, Document, Members, Exchange, Keyset, KeysetCache, ...errors,
  Sender: require("./lib/http.cjs").Sender,
  ...require("./generated/facts.cjs"),
  ...require("./generated/names.cjs"),
};
