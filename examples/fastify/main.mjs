// The shop on Fastify 4 or 5: `node main.mjs setup` makes the tables, once, and `node main.mjs
// 8080` serves. It reads config.json and keys.json of the current folder.
import Fastify from "fastify";
import { notify, purchase, setup } from "./shop.mjs";

// A number is no text: Fastify would make one of it.
const app = Fastify({ bodyLimit: 512 << 10, logger: { level: "warn" },
  ajv: { customOptions: { coerceTypes: false } } });

/**
 * Return the schema of a body with one text.
 * @param {string} name
 */
const needs = (name) => ({ schema: { body: {
  type: "object", required: [name], properties: { [name]: { type: "string" } } } } });

app.post("/v1/purchases", needs("jws"), async (request, reply) => {
  const { jws } = /** @type {{ jws: string }} */ (request.body);
  const { status, body, headers } = await purchase(request.headers.authorization, jws);
  return reply.code(status).headers(headers).send(body);
});

app.post("/v1/notifications", needs("signedPayload"), async (request, reply) => {
  const { signedPayload } = /** @type {{ signedPayload: string }} */ (request.body);
  const { status, body, headers } = await notify(signedPayload);
  return reply.code(status).headers(headers).send(body);
});

if (process.argv[2] === "setup") await setup();
else await app.listen({ port: Number(process.argv[2]), host: "127.0.0.1" });
