// What TypeScript must refuse.
import {
  AssayError, Document, Exchange, ExchangeRequest, Transaction, Verifier, checkExpiry,
} from "assay";

// @ts-expect-error there is no configuration
new Verifier();
// @ts-expect-error a configuration has apps
new Verifier({});
const apps = [{ bundleId: "com.example.app" }];
// @ts-expect-error a misspelt member
new Verifier({ apps, enviroments: ["Sandbox"] });
// @ts-expect-error a misspelt member of a list
new Verifier({ apps: [{ bundleId: "com.example.app", appleId: 1 }] });
// @ts-expect-error a misspelt member, deep inside
new Verifier({ apps, storekit: { caps: { jwsBites: 1 } } });
// @ts-expect-error a misspelt member of a product
new Verifier({ apps, products: { coins: { type: "consumable", unit: 5 } } });
// @ts-expect-error a product has a type
new Verifier({ apps, products: { coins: { units: 5 } } });
// @ts-expect-error a value that there is not
new Verifier({ apps, environments: ["Production", "sandbox"] });
// @ts-expect-error a value of another type
new Verifier({ apps, clockSkewMs: "1" });
// @ts-expect-error a rule that may only deny
new Verifier({ apps, risk: { rules: { "RSK-12": "allow" } } });
// @ts-expect-error a rule that there is not
new Verifier({ apps, risk: { rules: { "RSK-99": "deny" } } });
// @ts-expect-error a required member of a block
new Verifier({ apps, appStoreServerApi: { issuerId: "i", keyId: "k" } });
// @ts-expect-error an engine is named, where no executor says it
new Verifier({ apps, ledger: { leaseMs: 60_000 } });
const verifier = new Verifier("{}");
const transaction = verifier.verifyTransaction("jws");

// @ts-expect-error evidence is text or bytes
verifier.verifyTransaction(5);
// @ts-expect-error a misspelt option
verifier.verifyTransaction("jws", { nowMs: 5 });
// @ts-expect-error a time is no text
verifier.verifyTransaction("jws", { now: "today" });
// @ts-expect-error facts are made by a verifier
new Transaction();
// @ts-expect-error documents are made by a verifier
new Document();
// @ts-expect-error exchanges are made by a verifier
new Exchange();
// @ts-expect-error facts are read-only
transaction.productId = "x";
// @ts-expect-error a misspelt fact
transaction.product_id;
// @ts-expect-error a fact may be absent
const offer: string = transaction.offerIdentifier;
// @ts-expect-error a time is milliseconds, its Date has another name
const end: Date | null = transaction.expiresDate;
// @ts-expect-error JSON is no evidence
verifier.decide(JSON.stringify(transaction));
// @ts-expect-error an object that looks like evidence is none
verifier.decide({ ...transaction.document });
// @ts-expect-error part of the facts is no evidence
verifier.decide(transaction.chain);
// @ts-expect-error there is no "any"
verifier.verify("any", "jws");
// @ts-expect-error an attestation needs its key id
verifier.verifyAttestation("a", { clientData: "x" });
// @ts-expect-error client data has one form
verifier.verifyAttestation("a", { keyId: "k", clientData: "x", clientDataHash: new Uint8Array() });
// @ts-expect-error client data is needed
verifier.verifyAttestation("a", { keyId: "k" });
// @ts-expect-error a counter is a number
verifier.verifyAssertion("a", { publicKey: "k", counter: "1", clientData: "x" });
// @ts-expect-error an operation's value is one of a choice
verifier.sessions.verifySession({ session: "s", purpose: "fun" });
// @ts-expect-error a required member
verifier.signer.signPromotionalOffer({ productId: "p" });
// @ts-expect-error a misspelt observation
verifier.assessRisk({ request: "paid", attestation: "absent", plattform: "ios" });
// @ts-expect-error a required observation
verifier.assessRisk({ request: "paid" });
// @ts-expect-error a misspelt member of a request
verifier.signer.signApiToken({ bundleID: "com.example.app" });
// @ts-expect-error a misspelt option of a request over the network
verifier.appStore().getTransactionHistory("1", { page: 3 });
// @ts-expect-error a misspelt option of the App Store
verifier.appStore({ bundle: "com.example.app" });
// @ts-expect-error an environment that there is not
verifier.appStore({ environment: "sandbox" });
// @ts-expect-error an operation that there is not
verifier.exchange({ operation: "check-revocations", mode: "required" });
// @ts-expect-error a misspelt member of an exchange
verifier.exchange({ operation: "check-revocation", modus: "required" });
// @ts-expect-error a member of another operation
const request: ExchangeRequest = { operation: "check-revocation", mode: "required", pages: 5 };
// @ts-expect-error a required member of an exchange
verifier.exchange({ operation: "check-revocation" });
// @ts-expect-error a value that there is not
verifier.exchange({ operation: "check-revocation", mode: "sometimes" });
// @ts-expect-error a call on the thread pool gives a promise
verifier.async.verifyTransaction("jws").productId;
// @ts-expect-error a network operation gives a promise
verifier.appStore().getTransactionInfo("1").transactions;
// @ts-expect-error a promise is no evidence
verifier.decide(verifier.async.verifyTransaction("jws"));
// @ts-expect-error the JSON is frozen
transaction.document.json["ok"] = true;
// @ts-expect-error dates are times
checkExpiry({ expiresAtMs: "tomorrow" });
// @ts-expect-error errors are made by the library
new AssayError("x");
// @ts-expect-error an error has no such member
(null as unknown as AssayError).rules;
