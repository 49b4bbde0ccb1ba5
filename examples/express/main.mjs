// The shop on Express 4 or 5: `node main.mjs setup` makes the tables, once, and `node main.mjs
// 8080` serves. It reads config.json and keys.json of the current folder.
import express from "express";
import { notify, purchase, setup } from "./shop.mjs";

const app = express();
app.use(express.json({ limit: "512kb" }));

/** Call `perform` with a text of the body, and send its answer. */
const route = (member, perform) => async (request, response, next) => {
  try {
    const text = request.body?.[member];
    if (typeof text !== "string") return response.sendStatus(400);
    const { status, body, headers } = await perform(text, request);
    return response.status(status).set(headers).json(body);
  } catch (error) {
    return next(error); // Express 4 waits for no promise
  }
};

app.post("/v1/purchases", route("jws",
  (jws, request) => purchase(request.get("Authorization"), jws)));
app.post("/v1/notifications", route("signedPayload", notify));

if (process.argv[2] === "setup") await setup();
else app.listen(Number(process.argv[2]), "127.0.0.1");
