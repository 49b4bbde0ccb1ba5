"use strict";
// Grants and take-backs, which the host's functions receive, and results with what became of them.

const results = require("../generated/results.cjs");
const { MADE } = require("./document.cjs");
const { own } = require("./arguments.cjs");
const { PendingError, UnavailableError } = require("./errors.cjs");
const { add } = require("./operations.cjs");
const { Result } = require("./results.cjs");

/** What is to be done once: its members are read-only. */
class Effect {
  constructor(found, connection) {
    for (const name of new.target.names) this[name] = own(found, name) ?? null;
    this.connection = connection ?? null;
    Object.freeze(this);
  }
}
class Grant extends Effect {
  static names = ["grantId", "fencingToken", "account", "product", "quantity", "units",
    "purchaseKey", "repeat"];
}
class TakeBack extends Effect {
  static names = ["takeId", "fencingToken", "account", "product", "quantity", "units",
    "percentage", "purchaseKey"];
}

// ---- members by hand of generated classes

add(results.Claim, {
  get needsGrant() {
    return this.clientResult === null && ["new", "resume"].includes(this.outcome);
  },
  grant() { return new Grant(this.payload); },
});
add(results.Take, { takeBack() { return new TakeBack(this.payload); } });
for (const Class of [results.ClaimResult, results.ResumeResult]) {
  add(Class, {
    get claim() {
      return this.claims.find((each) => each.needsGrant) ?? this.claims.at(-1) ?? null;
    },
  });
}
add(results.IssueChallengeResult, {
  get challenge() { return own(this.payload, "challenge") ?? null; },
});
add(results.FinishSignupResult, {
  get httpStatus() {
    return this.outcome === "exists" ? 409 : Reflect.get(Result.prototype, "httpStatus", this);
  },
});
// Apple sends again what is not answered with 200.
for (const Class of [results.RevokeResult, results.ApplyEventResult,
  results.ResumeExpiredRevocationsResult]) {
  add(Class, { get httpStatus() { return this.ok ? 200 : 503; } });
}

// ---- what became of a result

/** Return a result with other values, and of another document if one is given. */
function changed(result, values, document = result.document) {
  return new result.constructor(MADE, document, { ...result.payload, ...values });
}

/** Return the error of a database that is away; another one is thrown. */
function away(error) {
  if (error instanceof UnavailableError || error instanceof PendingError) return error;
  throw error;
}

/** Grant and complete each claim that needs it, and return the result with what became of it. */
async function payOut(ledger, found, name, grant, given) {
  if (grant === undefined) return found;
  const claims = [...found.payload[name] ?? []];
  const values = { [name]: claims };
  let document; // of the first completion that was refused: a refund overtook the grant
  for (const [place, claim] of found[name].entries()) {
    if (!claim.needsGrant || await grant(claim.grant()) === false) continue;
    const { purchaseKey, account, grantId, fencingToken } = claim;
    let completed;
    try {
      completed = await ledger.complete({ purchaseKey, account, grantId, fencingToken, ...given });
    } catch (error) {
      // It was granted: the next attempt, or resumeExpired, completes it (STO-20).
      const { document } = away(error);
      const later = { outcome: "resume", clientResult: "deferred" };
      found[name].forEach((each, at) => {
        if (at >= place && each.needsGrant) claims[at] = { ...claims[at], ...later };
      });
      return changed(found, name === "claims" ? { ...values, ...later } : values, document);
    }
    const { outcome, clientResult, grantedAtMs, revokedAtMs } = completed;
    claims[place] = { ...claims[place], outcome, clientResult, grantedAtMs, revokedAtMs,
      changed: completed.changed ?? false };
    values.changed ??= found.payload.changed;
    values.changed ||= claims[place].changed;
    if (found.clientResult === null) {
      if (!completed.ok) document ??= completed.document;
      values.outcome ??= outcome;
      values.clientResult ??= clientResult;
    }
  }
  return changed(found, values, document);
}

/** Take back and complete each revocation; what cannot be completed is handed out again later. */
async function takeBack(ledger, found, takes, call, isCompleted, given) {
  for (const take of call === undefined ? [] : takes) {
    const taken = await call(take.takeBack());
    if (taken === false || !isCompleted) continue;
    const { purchaseKey, takeId, fencingToken } = take;
    try {
      await ledger.completeRevocation({ purchaseKey, takeId, fencingToken,
        ...(typeof taken === "number" ? { taken } : {}), ...given });
    } catch (error) {
      return changed(found, {}, away(error).document);
    }
  }
  return found;
}

module.exports = { Grant, TakeBack, changed, payOut, takeBack };
