// What TypeScript must accept, as an ES module; uses.cts says the same as CommonJS.
import {
  AssayError, KeysetCache, Keyset, RejectedError, Sender, Verifier, checkExpiry, version,
  type AppStore, type Document, type Environment, type Evidence, type ExchangeRequest,
  type Transaction,
} from "assay";

const verifier = new Verifier({ apps: [{ bundleId: "com.example.app", appAppleId: 1 }] });
new Verifier({
  apps: [{ bundleId: "com.example.app", appAppleId: 1, teamId: "ABCDE12345" }],
  environments: ["Production", "Sandbox"], plans: ["free", "pro"],
  products: { "com.example.app.pro": { type: "auto-renewable", plan: "pro" } },
  quotas: { pro: { scans: 5 } }, storekit: { caps: { jwsBytes: 8192 }, cache: { chains: 0 } },
  tokens: [{ profile: "jwt", algorithm: "ES256", issuers: ["https://id.example"],
    jwksUri: { "https://id.example": "https://id.example/keys" } }],
  risk: { rules: { "RSK-11": "step-up" } }, ledger: { engine: "sqlite", transfer: "confirm" },
});
new Verifier("{}");
Verifier.fromFile(new URL("file:///config.json"));

const transaction: Transaction = verifier.verifyTransaction("jws", { now: new Date() });
const product: string | null = transaction.productId;
const end: Date | null = transaction.expiresAt;
const where: Environment = transaction.environment;
const known: boolean = where === "Sandbox";
const signedText: string = transaction.payloadText;
const chain: string = transaction.chain.leaf.sha256;
const evidence: Evidence[] = [transaction, transaction.document];
const decision = verifier.decide(evidence, { account: "a", now: 5 });
const entitled: boolean = decision.entitled;
for (const group of decision.groups) console.log(group.plan, group.state);
const document: Document = verifier.verify("app-receipt", new Uint8Array(), { subject: "uuid" });
if (document.error) console.log(document.error.hint, document.error.retryClass === "later");
verifier.verifyAttestation("base64", { keyId: "k", clientData: "a" }).publicKey.x963.length;
verifier.verifyAssertion("base64", { publicKey: "k", counter: 0, clientDataHash: new Uint8Array() });
const token: string = verifier.signer.signApiToken().token;
verifier.sessions.verifySession({ session: "s", purpose: "paid" }).account;
verifier.assessRisk({ request: "paid", attestation: "absent", history: { lastAttestedMs: 5 },
  rates: { unsupportedNow: 0.5 } }).verdict === "allow";
verifier[Symbol.dispose]();
const open: boolean = checkExpiry({ expiresAtMs: Infinity, revokedAtMs: null });

async function network(): Promise<void> {
  const sender = new Sender({ hosts: { "api.storekit.apple.com": "http://127.0.0.1:1" } });
  const store: AppStore = verifier.appStore({ environment: "auto" });
  const found = await store.getTransactionHistory("1", { pages: 3, startDate: new Date(), sender });
  const first: Transaction | undefined = found.transactions[0];
  const same: Transaction = await verifier.async.verifyTransaction("jws");
  const revocation = await verifier.checkRevocation(same, "required", { maxWaitMs: 1000 });
  verifier.decide([same, revocation, found]);
  const cache = new KeysetCache(verifier, { load: () => null, save: async () => {} });
  const subject: string = (await cache.verifyToken("token", "issuer")).subject;
  verifier.verifyToken("token", new Keyset({ keys: [] }));
  const exchange = verifier.exchange({ operation: "check-revocation", mode: "required" });
  while (!exchange.done) exchange.reply({ id: exchange.step["http"].id, status: 0, body: null });
  const kept = { operation: "check-revocation", mode: "required" };
  verifier.exchange(kept);
  const typed: ExchangeRequest = { operation: "check-revocation", mode: "required" };
  verifier.exchange(typed);
  verifier.exchange(JSON.parse("{}"));
  await exchange.run(async (request) => ({ id: request.id, status: 0, body: null }));
  console.log(first, subject);
}

try {
  verifier.verifyNotification("jws").transaction?.productId;
} catch (error) {
  if (error instanceof RejectedError) console.log(error.httpStatus, error.document?.text);
  else if (error instanceof AssayError) console.log(error.status, error.hint);
}
export { product, end, known, chain, entitled, signedText, token, open, network, version };
