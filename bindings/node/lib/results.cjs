"use strict";
// The base of the results of a Ledger, which are generated.

const { native } = require("./load.cjs");
const { Members, documentOf } = require("./document.cjs");

class Result extends Members {
  get ok() { return documentOf(this).ok; }
  get status() { return documentOf(this).status; }

  get httpStatus() {
    // A pending exchange would have to wait for longer than maxWaitMs.
    if (this.status.startsWith("pending.")) return 503;
    return this.ok ? 200 : native.statusHttp(documentOf(this).code);
  }

  throwIfFailed() { documentOf(this).throwIfFailed(); }
}

module.exports = { Result };
