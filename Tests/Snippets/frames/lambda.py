"""Frame of a Lambda function: one request of the API gateway."""
import minted
import os

os.environ["ASSAY_CONFIG"] = str(minted.AUTHORITY / "config.json")
# SNIPPET
purchase = minted.mint("transaction", "--account", minted.ACCOUNT)
caller = {"authorizer": {"claims": {"sub": minted.ACCOUNT}}}
answer = handler({"requestContext": caller, "body": json.dumps({"transaction": purchase})}, None)
assert answer == {"statusCode": 200, "body": '{"plan": "premium"}'}, answer
caller = {"authorizer": {"claims": {"sub": "99999999-2fa1-11d2-883f-b9a761bde3fb"}}}
answer = handler({"requestContext": caller, "body": json.dumps({"transaction": purchase})}, None)
assert answer["statusCode"] == 403, answer
