"use strict";
// A client of DynamoDB over fetch, for the server that tests start.

/** Return a function that sends requests as the SDK does; its errors are those of the SDK. */
function sender(address) {
  const [endpoint, region] = ["endpoint", "region"].map((each) => address.searchParams.get(each));
  const credential = `AWS4-HMAC-SHA256 Credential=testing/20350101/${region}/dynamodb/aws4_request`;
  return async (api, input, { abortSignal } = {}) => {
    const response = await fetch(endpoint, { method: "POST", body: JSON.stringify(input),
      signal: abortSignal, headers: { "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `DynamoDB_20120810.${api}`, "authorization": credential } });
    const found = await response.json();
    if (response.ok) return { ...found, $metadata: {} };
    const name = found.__type.split("#").pop();
    throw Object.assign(new Error(found.message), { $fault: "client", ...found, name });
  };
}

module.exports = { sender };
