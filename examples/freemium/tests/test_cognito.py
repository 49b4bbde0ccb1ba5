"""Cognito through boto3, on moto's server, for what the local pool cannot test."""
import secrets
import unittest

from running import ENGINE, new_password, new_username, post

if ENGINE == "moto":
    import moto_stage
    from botocore.exceptions import ClientError, EndpointConnectionError

    from freemium.providers import Cognito
    from freemium.records import Unreachable

TARGET = "AWSCognitoIdentityProviderService.SignUp"


@unittest.skipUnless(ENGINE == "moto", "FREEMIUM_ENGINE is not moto")
class PoolTest(unittest.TestCase):
    """The pool's own setting, and what passes without it (BCK-21)."""

    def sign_up(self, client):
        given = {"ClientId": client, "Username": new_username(), "Password": new_password()}
        return post(moto_stage.url(), "/", given, headers={
            "X-Amz-Target": TARGET, "Content-Type": "application/x-amz-json-1.1"})

    def test_bck21_w30_closed(self):
        _, client = moto_stage.made_pool(admin_only=True)
        said = self.sign_up(client)
        self.assertEqual((said.status, said.json["__type"]), (400, "NotAuthorizedException"))

    def test_bck21_w30_without_the_setting_anybody_signs_up(self):
        _, client = moto_stage.made_pool(admin_only=False)
        said = self.sign_up(client)
        self.assertEqual(said.status, 200)
        self.assertIn("UserSub", said.json)


@unittest.skipUnless(ENGINE == "moto", "FREEMIUM_ENGINE is not moto")
class ProviderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool, _ = moto_stage.made_pool()
        cls.client = moto_stage.client("cognito-idp")

    def setUp(self):
        self.provider = Cognito(self.pool, self.client)

    def test_a_user_from_first_to_last(self):
        name = new_username()
        made = self.provider.create(name, new_password())
        self.assertEqual(made.outcome, "created")
        self.assertEqual(self.provider.account(name), made.account)
        self.assertEqual(self.provider.create(name, new_password()).outcome, "exists")
        for _ in range(2):
            self.provider.disable(name)
            self.provider.delete(name)
        self.assertIsNone(self.provider.account(name))

    def test_w20_a_half_made_user_is_finished(self):
        name = new_username()
        self.client.admin_create_user(
            UserPoolId=self.pool, Username=name, MessageAction="SUPPRESS",
            TemporaryPassword=new_password())
        made = self.provider.create(name, new_password())
        self.assertEqual((made.outcome, made.account), ("created", self.provider.account(name)))

    def test_sto57_errors_in_the_words_of_the_ledger(self):
        for code, outcome in (("TooManyRequestsException", "provider-busy"),
                              ("LimitExceededException", "provider-busy"),
                              ("ThrottlingException", "provider-busy"),
                              ("InternalErrorException", "provider-error"),
                              ("InvalidPasswordException", "provider-error")):
            failing = Failing(ClientError({"Error": {"Code": code, "Message": "x"}}, "x"))
            provider = Cognito(self.pool, failing)
            self.assertEqual(provider.create("u", "p").outcome, outcome)
            for call in (provider.account, provider.disable, provider.delete):
                with self.assertRaises(Unreachable):
                    call("u")
        provider = Cognito(self.pool, Failing(EndpointConnectionError(endpoint_url="x")))
        self.assertEqual(provider.create("u", "p").outcome, "provider-error")
        with self.assertRaises(Unreachable):
            provider.account("u")

    def test_the_second_call_fails(self):
        name = f"u_{secrets.token_hex(8)}"
        half = HalfFailing(self.client)
        self.assertEqual(Cognito(self.pool, half).create(name, new_password()).outcome,
                         "provider-error")
        self.assertEqual(self.provider.create(name, new_password()).outcome, "created")


class Failing:
    """A client whose every call fails."""

    def __init__(self, error):
        self._error = error

    def __getattr__(self, name):
        def call(**unused):
            raise self._error

        return call


class HalfFailing:
    """A client that is interrupted after the first of the two calls."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        if name == "admin_set_user_password":
            error = ClientError({"Error": {"Code": "InternalErrorException", "Message": ""}}, name)
            return Failing(error).anything
        return getattr(self._client, name)


if __name__ == "__main__":
    unittest.main()
