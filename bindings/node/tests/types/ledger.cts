// Uses of the ledger that the declarations must accept, and wrong ones.
import { Verifier } from "assay";
import { Ledger, Postgres, SQLite } from "assay/ledger";
import type { Claim, Executor, Grant } from "assay/ledger";

export async function shop(verifier: Verifier, own: Executor): Promise<string> {
  const ledger = new Ledger(new SQLite("./shop.db"), { apps: [] });
  new Ledger(own, { apps: [], ledger: { leaseMs: 60_000, signup: { limit: 5 } } }).close();
  new Ledger(own, verifier, { clock: () => new Date() }).close();
  const grant = async ({ connection, grantId }: Grant): Promise<void> => {
    await connection.query("INSERT …", [grantId]);
  };
  const claimed = await ledger.claim("text", { account: "ann", grant });
  const claim: Claim | null = claimed.claim;
  if (claim?.needsGrant && claim.clientResult === null) await grant(claim.grant());
  await ledger.applyEvent(verifier.verifyNotification("text"),
    { grant, takeBack: (take) => take.units, grantMode: "transaction" });
  const last = await ledger.getPlan("ann");
  await ledger.getPlan("ann", { cachedPlan: last, now: new Date() });
  await ledger.mergeAccounts({ from: "anonymous", to: "ann" });
  await ledger.beginSignup({ address: null, username: "u_0123456789abcdef", passwordBytes: 24 });
  const { challenge } = await ledger.issueChallenge({ purpose: "login", subject: "ann" });
  const http: number = claimed.httpStatus;
  // @ts-expect-error a misspelt member of the ledger's configuration
  new Ledger(own, { apps: [], ledger: { lease: 60_000 } });
  // @ts-expect-error a misspelt member of a request
  await ledger.claim("text", { acount: "ann" });
  // @ts-expect-error a misspelt option of a ledger
  new Ledger(own, verifier, { maxWait: 5 });
  // @ts-expect-error a path
  new SQLite();
  // @ts-expect-error a pool
  new Postgres("postgresql:///shop");
  // @ts-expect-error an executor
  new Ledger("sqlite:///shop.db", verifier);
  // @ts-expect-error evidence is nothing that anyone can write
  await ledger.claim({ transactionId: "1" }, { account: "ann" });
  // @ts-expect-error the address is said, even if it is unknown
  await ledger.beginSignup({ username: "u_0123456789abcdef", passwordBytes: 24 });
  // @ts-expect-error a mode of another operation
  await ledger.claim("text", { account: "ann", grantMode: "none" });
  // @ts-expect-error results are read-only
  claimed.outcome = "new";
  return `${challenge} ${http}`;
}
