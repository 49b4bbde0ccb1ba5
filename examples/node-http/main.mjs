// The shop on node:http, without a framework: `node main.mjs setup` makes the tables, once, and
// `node main.mjs 8080` serves. It reads config.json and keys.json of the current folder.
import { createServer } from "node:http";
import { notify, purchase, setup } from "./shop.mjs";

const LIMIT = 512 << 10;

/** @typedef {import("node:http").IncomingMessage} Request */
/** @typedef {{ status: number, body?: object, headers?: { [name: string]: string } }} Answer */

/** @type {{ [path: string]: (request: Request, text: Buffer) => Answer | Promise<Answer> }} */
const ROUTES = {
  "/v1/purchases"(request, text) {
    const jws = member(text, "jws");
    return jws === undefined ? { status: 400 } : purchase(request.headers.authorization, jws);
  },
  "/v1/notifications"(_, text) {
    const signedPayload = member(text, "signedPayload");
    return signedPayload === undefined ? { status: 400 } : notify(signedPayload);
  },
};

/**
 * Return a text of a JSON body; undefined if it is not there.
 * @param {Buffer} text
 * @param {string} name
 */
function member(text, name) {
  try {
    const found = JSON.parse(text.toString())[name];
    return typeof found === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Return the body, of which no more than the limit is kept; undefined if it is longer.
 * @param {Request} request
 */
async function read(request) {
  const pieces = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.length;
    if (length <= LIMIT) pieces.push(piece);
  }
  return length <= LIMIT ? Buffer.concat(pieces) : undefined;
}

/**
 * @param {Request} request
 * @returns {Promise<Answer>}
 */
async function answer(request) {
  const route = ROUTES[request.url ?? ""];
  if (route === undefined) return { status: 404 };
  if (request.method !== "POST") return { status: 405, headers: { Allow: "POST" } };
  const text = await read(request);
  return text === undefined ? { status: 413 } : route(request, text);
}

const server = createServer(async (request, response) => {
  try {
    const { status, body, headers } = await answer(request);
    response.writeHead(status, { "Content-Type": "application/json", ...headers })
      .end(body && JSON.stringify(body));
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
server.requestTimeout = 10_000;

if (process.argv[2] === "setup") await setup();
else server.listen(Number(process.argv[2]), "127.0.0.1");
