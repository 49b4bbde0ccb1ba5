// Uses of the part for tests that the declarations must accept, and wrong ones.
import { Authority, MintError, MockApple, program } from "assay/testing";
import type { MintedAssertion } from "assay/testing";

export async function shop(): Promise<string> {
  const authority = new Authority("./authority", { bundleId: "com.example.app", now: new Date() });
  const verifier = authority.trusting({ apps: [] });
  const jws: string = authority.transaction({ purchased: new Date(), expired: true, price: null,
    set: { price: 1990 }, remove: ["currency"], forge: "JWS-29" });
  const { object, publicKey, counter }: MintedAssertion = authority.assertion("text", 2);
  verifier.verifyAssertion(object, { publicKey, counter, clientData: "text" });
  const bytes: Uint8Array = authority.mint("keyset");
  const apple = await MockApple.start(authority, { clock: 0, script: [{ nth: 1 }] });
  await apple.play("refund", { transactionId: "1" });
  const [{ status }] = await apple.log();
  await apple.close();
  // @ts-expect-error it is started
  new MockApple(authority);
  // @ts-expect-error a rule is a text
  authority.transaction({ forge: 29 });
  // @ts-expect-error options
  authority.notification({ type: "TEST" });
  return `${new MintError("no").message} ${program()} ${jws} ${bytes.length} ${status}`;
}
