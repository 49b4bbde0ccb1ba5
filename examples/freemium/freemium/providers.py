"""The identity provider, which has the users and their passwords.

`Cognito` is Amazon's, through boto3. `local.pool.Pool` replaces it on one machine. The back
end creates users, and never asks for a password: apps sign in at the provider themselves.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from .records import Unreachable

_BUSY = ("TooManyRequestsException", "LimitExceededException", "ThrottlingException")
_HALF_MADE = "FORCE_CHANGE_PASSWORD"


@dataclass(frozen=True)
class Made:
    """The result of creating a user.

    outcome  a value of finish-signup: "created", "exists", "provider-busy",
             "provider-error"
    account  `sub` of a created user
    """

    outcome: str
    account: str | None = None

    @property
    def exists(self) -> bool:
        return self.outcome == "exists"


class Provider(Protocol):
    """What the back end needs of a provider."""

    def create(self, username: str, password: str) -> Made:
        """Create a user that can sign in at once. An existing user is not changed."""
        ...

    def account(self, username: str) -> str | None:
        """Return `sub` of a user; None if there is none."""
        ...

    def can_sign_in(self, account: str) -> bool:
        """Return whether the account with this `sub` is a user of the pool that may sign in."""
        ...

    def set_password(self, username: str, password: str) -> None:
        """Set the password of a user, whose sign-ins go on. Repeating it has no effect."""
        ...

    def disable(self, username: str) -> None:
        """Disable a user, who can then no longer sign in."""
        ...

    def delete(self, username: str) -> None:
        """Delete a user. Repeating it has no effect."""
        ...


def provider_of(found: Mapping[str, Any]) -> Provider:
    """Return the provider that the settings name."""
    if found.get("kind") == "cognito":
        return Cognito(found["pool"], region=found.get("region"), endpoint=found.get("endpoint"))
    raise ValueError("provider.kind is cognito; the local one is made by freemium.local")


class Cognito:
    """One user pool, with a client of boto3."""

    def __init__(
        self,
        pool: str,
        client: Any = None,
        *,
        region: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        self._pool = pool
        self._client = client or import_module("boto3").client(
            "cognito-idp", region_name=region, endpoint_url=endpoint
        )
        self._errors = import_module("botocore.exceptions")

    def create(self, username: str, password: str) -> Made:
        """Create a user by two calls, of which the second may be lost: the next sign-up completes
        the user (STO-58). A completed user never gets another password."""
        try:
            account = self._unfinished(username, password)
            if account is None:
                return Made("exists")
            self._ask("admin_set_user_password", username, Password=password, Permanent=True)
            return Made("created", account)
        except self._errors.ClientError as error:
            return Made("provider-busy" if _code(error) in _BUSY else "provider-error")
        except self._errors.BotoCoreError:
            return Made("provider-error")

    def _unfinished(self, username: str, password: str) -> str | None:
        """Create a user, or find one that has no password of its own yet, and return its `sub`;
        None for a user that has one."""
        try:
            made = self._ask(
                "admin_create_user",
                username,
                MessageAction="SUPPRESS",
                TemporaryPassword=password,
            )
            return _sub(made["User"]["Attributes"])
        except self._errors.ClientError as error:
            if _code(error) != "UsernameExistsException":
                raise
        found = self._ask("admin_get_user", username)
        return _sub(found["UserAttributes"]) if found["UserStatus"] == _HALF_MADE else None

    def account(self, username: str) -> str | None:
        found = self._if_there("admin_get_user", username)
        return _sub(found["UserAttributes"]) if found else None

    def can_sign_in(self, account: str) -> bool:
        try:
            found = self._client.list_users(
                UserPoolId=self._pool, Filter=f'sub = "{uuid.UUID(account)}"', Limit=1
            )
        except (self._errors.ClientError, self._errors.BotoCoreError) as error:
            raise Unreachable from error
        return any(user["Enabled"] for user in found["Users"])

    def set_password(self, username: str, password: str) -> None:
        self._if_there(
            "admin_set_user_password", username, Password=password, Permanent=True)

    def disable(self, username: str) -> None:
        self._if_there("admin_disable_user", username)

    def delete(self, username: str) -> None:
        self._if_there("admin_delete_user", username)

    def _if_there(self, name: str, username: str, **more: Any) -> Any:
        """Return the provider's response about a user; None if there is none."""
        try:
            return self._ask(name, username, **more)
        except self._errors.ClientError as error:
            if _code(error) == "UserNotFoundException":
                return None
            raise Unreachable from error
        except self._errors.BotoCoreError as error:
            raise Unreachable from error

    def _ask(self, name: str, username: str, **more: Any) -> Any:
        return getattr(self._client, name)(UserPoolId=self._pool, Username=username, **more)


def _code(error: Any) -> str:
    return str(error.response["Error"]["Code"])


def _sub(attributes: list[dict[str, str]]) -> str:
    return next(each["Value"] for each in attributes if each["Name"] == "sub")
