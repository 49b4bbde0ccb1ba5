"""Rows as a shop may have kept them, minted under a test authority, with the truth about them.

World(authority, seed).rows are the lines of the input; World.truth says what was minted, by group:
environment and original transaction id. Nothing here knows what a migration makes of it.
"""
import base64
import ctypes
import dataclasses
import json
import random
import uuid

NOW = 1795176000000  # 2026-11-20T12:00:00Z
DAY = 86_400_000
MONTH = 30 * DAY
MONTHLY = "com.example.app.premium.monthly"
SEASON = "com.example.app.season"
LIFETIME = "com.example.app.lifetime"
COINS = "com.example.app.coins100"
TYPES = {MONTHLY: "Auto-Renewable Subscription", SEASON: "Non-Renewing Subscription",
         LIFETIME: "Non-Consumable", COINS: "Consumable"}


class Signer:
    """Signs ES256 with a private key in PEM, by the libcrypto of this machine."""

    def __init__(self, pem):
        c = self.crypto = ctypes.CDLL("libcrypto.so.3")
        for name in ("BIO_new_mem_buf", "PEM_read_bio_PrivateKey", "EVP_MD_CTX_new",
                     "EVP_sha256"):
            getattr(c, name).restype = ctypes.c_void_p
        bio = c.BIO_new_mem_buf(pem, len(pem))
        self.key = ctypes.c_void_p(c.PEM_read_bio_PrivateKey(ctypes.c_void_p(bio), None, None, None))
        self.context = ctypes.c_void_p(c.EVP_MD_CTX_new())
        self.digest = ctypes.c_void_p(c.EVP_sha256())

    def sign(self, data):
        """Return r and s, 32 bytes each."""
        c, size, out = self.crypto, ctypes.c_size_t(80), ctypes.create_string_buffer(80)
        c.EVP_MD_CTX_reset(self.context)
        if (c.EVP_DigestSignInit(self.context, None, self.digest, None, self.key) != 1
                or c.EVP_DigestSign(self.context, out, ctypes.byref(size), data, len(data)) != 1):
            raise RuntimeError("libcrypto does not sign")
        der = out.raw[:size.value]
        r_end = 4 + der[3]
        parts = der[4:r_end], der[r_end + 2:]
        return b"".join(part.lstrip(b"\0").rjust(32, b"\0") for part in parts)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Mint:
    """Signed texts of one authority: a header that the command minted, any payload."""

    def __init__(self, assay, folder="ca"):
        self.assay, self.folder = assay, folder
        self.run("transaction", "-o", folder + "/sample.jws")
        sample = (assay.folder / folder / "sample.jws").read_text().strip()
        self.header = sample.split(".")[0]
        self.signer = Signer((assay.folder / folder / "leaf-key.pem").read_bytes())
        self.config = json.loads((assay.folder / folder / "config.json").read_text())

    def run(self, *words):
        code, out, err = self.assay.run("mint", *words, "--authority", self.folder, "--now", NOW)
        if code:
            raise RuntimeError(err)
        return out.decode().strip()

    def jws(self, payload):
        text = f"{self.header}.{base64url(json.dumps(payload).encode())}"
        return f"{text}.{base64url(self.signer.sign(text.encode()))}"


@dataclasses.dataclass
class Purchase:
    """One purchase as Apple knows it."""

    transaction: str
    product: str
    bought: int
    expires: int | None = None
    web_order: str | None = None
    revoked: int | None = None
    share: int = 100_000
    upgraded: bool = False
    quantity: int = 1
    #: (account, granted, received) of each row that has it; account None: unknown.
    rows: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Group:
    """What has one original transaction id."""

    environment: str
    original: str
    purchases: list[Purchase] = dataclasses.field(default_factory=list)
    token: str | None = None
    #: The end of the grace period in its renewal info; None without renewal info.
    renewal: bool = False
    grace: int | None = None
    #: Accounts of rows without evidence, and what they say.
    hearsay: list = dataclasses.field(default_factory=list)


class World:
    """Rows and truth, made from a seed."""

    def __init__(self, mint, foreign, seed, count, receipts=()):
        self.mint, self.foreign = mint, foreign
        self.random = random.Random(seed)
        self.next_id = 700_000_000_000_000 + seed * 1_000_000
        self.groups: list[Group] = []
        #: account by the token that the shop gave it.
        self.tokens: dict[str, str] = {}
        #: (line, status) of rows that must be rejected; status None: any.
        self.lines: list[bytes] = []
        self.counts = dict.fromkeys(
            ("read", "empty", "skipped", "good", "partial", "hearsay", "rejected"), 0)
        self.texts: list[tuple[str, bool]] = []
        kinds = [self.consumable] * 8 + [self.lifetime] * 3 + [self.subscription] * 6 + [
            self.season, self.unknown, self.two_accounts, self.two_accounts, self.with_token,
            self.stolen_token, self.refunded, self.refunded, self.partly_refunded, self.tampered,
            self.foreign_root, self.hearsay_alone, self.hearsay_of_refund, self.malformed,
            self.upgraded, self.family, self.nobody, self.answer]
        entries = []
        while len(entries) < count:
            entries += self.random.choice(kinds)()
        for receipt in receipts:
            entries += self.receipt(receipt)
        self.random.shuffle(entries)
        self.entries = entries

    # ---- rows

    def write(self, order_seed=0):
        """Return the input in another order of rows."""
        entries = list(self.entries)
        random.Random(order_seed).shuffle(entries)
        return b"".join(entries)

    def row(self, end=b"\n", **members):
        return json.dumps({k: v for k, v in members.items() if v is not None}).encode() + end

    def id(self):
        self.next_id += 1
        return str(self.next_id)

    def account(self):
        return f"u{self.random.randrange(10**9)}"

    def group(self, environment=None):
        group = Group(environment or self.random.choice(["Production"] * 9 + ["Sandbox"]), self.id())
        self.groups.append(group)
        return group

    def payload(self, group, purchase, as_of=None, **more):
        payload = {
            "transactionId": purchase.transaction, "originalTransactionId": group.original,
            "bundleId": "com.example.app", "productId": purchase.product,
            "purchaseDate": purchase.bought, "originalPurchaseDate": purchase.bought,
            "quantity": purchase.quantity, "type": TYPES.get(purchase.product, "Consumable"),
            "inAppOwnershipType": "PURCHASED", "signedDate": as_of or purchase.bought + 60_000,
            "environment": group.environment, "transactionReason": "PURCHASE",
            "storefront": "USA", "storefrontId": "143441"}
        if purchase.expires is not None:
            payload |= {"expiresDate": purchase.expires, "subscriptionGroupIdentifier": "21400001"}
        if purchase.web_order:
            payload["webOrderLineItemId"] = purchase.web_order
        if group.token:
            payload["appAccountToken"] = group.token
        return payload | more

    def text(self, payload, mint=None):
        text = (mint or self.mint).jws(payload)
        self.texts.append((text, mint in (None, self.mint)))
        return text

    def entry(self, group, purchase, account, text, granted="random", **more):
        """Return a row, or two of the same, with one good text about one purchase."""
        if granted == "random":
            granted = self.random.choice([True, True, False])
        received = purchase.bought + self.random.randrange(1, 3_600_000)
        more = {"receivedAtMs": received} | more
        row = self.row(account=account, evidence=text, granted=granted,
                       end=self.random.choice([b"\n", b"\n", b"\r\n"]), **more)
        rows = [row] * self.random.choice([1, 1, 1, 2])
        for _ in rows:
            self.counts["read"] += 1
            self.counts["good"] += 1
            purchase.rows.append((account, bool(granted), more["receivedAtMs"]))
        return rows

    def bought(self, product, days=380, **more):
        bought = NOW - self.random.randrange(1, days) * DAY - self.random.randrange(DAY)
        return Purchase(self.id(), product, bought, **more)

    def single(self, product, **more):
        group = self.group()
        purchase = self.bought(product, **more)
        purchase.transaction = group.original
        group.purchases.append(purchase)
        return group, purchase

    # ---- what happens in a shop

    def consumable(self):
        group, purchase = self.single(COINS, quantity=self.random.choice([1, 1, 3]))
        return self.entry(group, purchase, self.account(), self.text(self.payload(group, purchase)))

    def lifetime(self):
        group, purchase = self.single(LIFETIME)
        account = self.account()
        rows = self.entry(group, purchase, account, self.text(self.payload(group, purchase)))
        if self.random.random() < 0.5:  # restored under another transaction id
            purchase.transaction = self.id()
            later = self.payload(group, purchase, as_of=purchase.bought + DAY)
            rows += self.entry(group, purchase, account, self.text(later))
        return rows

    def subscription(self, periods=None):
        group = self.group()
        account = self.account()
        start = NOW - self.random.randrange(5, 400) * DAY
        periods = periods or self.random.randrange(1, 5)
        rows = []
        for at in range(periods):
            bought = start + at * MONTH
            if bought > NOW - 120_000:
                break
            purchase = Purchase(group.original if at == 0 else self.id(), MONTHLY, bought,
                                expires=bought + MONTH, web_order=str(int(group.original) + at))
            group.purchases.append(purchase)
            text = self.text(self.payload(group, purchase))
            if at and self.random.random() < 0.2:
                text = {"signedTransactionInfo": text}
            rows += self.entry(group, purchase, account, text)
        last = group.purchases[-1]
        if self.random.random() < 0.5:
            group.renewal = True
            status = self.random.choice([0, 1])
            payload = {
                "originalTransactionId": group.original, "autoRenewProductId": MONTHLY,
                "productId": MONTHLY, "autoRenewStatus": status,
                "signedDate": last.bought + 120_000, "environment": group.environment,
                "recentSubscriptionStartDate": start, "renewalDate": last.expires}
            if self.random.random() < 0.3 and last.expires < NOW:
                group.grace = payload["gracePeriodExpiresDate"] = last.expires + 16 * DAY
                payload |= {"isInBillingRetryPeriod": True, "autoRenewStatus": 1}
            text = self.text(payload)
            rows.append(self.row(account=account, evidence=text, granted=True))
            self.counts["read"] += 1
            self.counts["good"] += 1
            last.rows.append((account, False, None))
        return rows

    def season(self):
        group, purchase = self.single(SEASON, days=300)
        purchase.expires = None
        return self.entry(group, purchase, self.account(), self.text(self.payload(group, purchase)))

    def unknown(self):
        group, purchase = self.single("com.example.app.gone")
        return self.entry(group, purchase, self.account(), self.text(self.payload(group, purchase)))

    def nobody(self):
        if self.random.random() < 0.4:
            group = self.group()
            bought = NOW - 5 * DAY
            purchase = Purchase(group.original, MONTHLY, bought, expires=bought + MONTH,
                                web_order=group.original)
            group.purchases.append(purchase)
        else:
            group, purchase = self.single(COINS)
        return self.entry(group, purchase, None, self.text(self.payload(group, purchase)))

    def two_accounts(self):
        group, purchase = self.single(self.random.choice([COINS, LIFETIME]))
        text, rows = self.text(self.payload(group, purchase)), []
        dated = self.random.random() < 0.7
        for _ in range(self.random.choice([2, 2, 3])):
            more = {} if dated else {"receivedAtMs": None}
            rows += self.entry(group, purchase, self.account(), text, **more)
        return rows

    def with_token(self):
        group, purchase = self.single(COINS)
        group.token = str(uuid.UUID(int=self.random.getrandbits(128)))
        account = self.tokens[group.token] = self.account()
        rows = self.entry(group, purchase, None, self.text(self.payload(group, purchase)))
        other, another = self.single(COINS)
        rows += self.entry(other, another, account, self.text(self.payload(other, another)),
                           accountToken=group.token.upper())
        return rows

    def stolen_token(self):
        group, purchase = self.single(COINS)
        group.token = str(uuid.UUID(int=self.random.getrandbits(128)))
        owner = self.tokens[group.token] = self.account()
        rows = self.entry(group, purchase, self.account(), self.text(self.payload(group, purchase)))
        other, another = self.single(COINS)
        rows += self.entry(other, another, owner, self.text(self.payload(other, another)),
                           accountToken=group.token)
        return rows

    def refunded(self, share=100_000, product=None):
        group, purchase = self.single(product or self.random.choice([COINS, COINS, LIFETIME]))
        account = self.account()
        rows = []
        if self.random.random() < 0.6:  # the text from before the refund as well
            rows += self.entry(group, purchase, account, self.text(self.payload(group, purchase)))
        purchase.revoked, purchase.share = purchase.bought + 3_600_000, share
        more = {"revocationDate": purchase.revoked, "revocationReason": 0}
        if share != 100_000:
            more |= {"revocationPercentage": share, "revocationType": "REFUND_PRORATED"}
        text = self.text(self.payload(group, purchase, as_of=purchase.revoked + 60_000, **more))
        return rows + self.entry(group, purchase, account, text)

    def partly_refunded(self):
        return self.refunded(40_000, COINS)

    def upgraded(self):
        group = self.group()
        account, bought = self.account(), NOW - 20 * DAY
        old = Purchase(group.original, "com.example.app.standard.monthly", bought,
                       expires=bought + MONTH, web_order=group.original, upgraded=True)
        new = Purchase(self.id(), MONTHLY, bought + 5 * DAY, expires=bought + 5 * DAY + MONTH,
                       web_order=str(int(group.original) + 1))
        group.purchases += [old, new]
        first = self.payload(group, old, as_of=new.bought + 60_000, isUpgraded=True,
                             type=TYPES[MONTHLY])
        rows = self.entry(group, old, account, self.text(first))
        return rows + self.entry(group, new, account, self.text(self.payload(group, new)))

    def family(self):
        """A shared purchase: the member's own ids, so no conflict with the payer's."""
        payer, mine = self.single(LIFETIME)
        rows = self.entry(payer, mine, self.account(), self.text(self.payload(payer, mine)))
        member, shared = self.single(LIFETIME)
        payload = self.payload(member, shared, inAppOwnershipType="FAMILY_SHARED")
        return rows + self.entry(member, shared, self.account(), self.text(payload))

    def receipt(self, receipt):
        """An app receipt, minted before: (text, group, purchases)."""
        text, group = receipt
        self.groups.append(group)
        account = self.account()
        self.texts.append((text, True))
        self.counts["read"] += 1
        self.counts["good"] += 1
        for purchase in group.purchases:
            purchase.rows.append((account, True, NOW))
        return [self.row(account=account, evidence=text, granted=True, receivedAtMs=NOW)]

    # ---- what is not taken

    def rejected(self, row):
        self.counts["read"] += 1
        self.counts["rejected"] += 1
        return [row]

    def tampered(self):
        group, purchase = Group("Production", self.id()), self.bought(COINS)
        text = self.mint.jws(self.payload(group, purchase))
        head, payload, signature = text.split(".")
        flipped = "A" if signature[10] != "A" else "B"
        text = f"{head}.{payload}.{signature[:10]}{flipped}{signature[11:]}"
        self.texts.append((text, False))
        return self.rejected(self.row(account=self.account(), evidence=text, granted=False))

    def foreign_root(self):
        group, purchase = Group("Production", self.id()), self.bought(COINS)
        text = self.text(self.payload(group, purchase), self.foreign)
        if self.random.random() < 0.5:
            return self.rejected(self.row(account=self.account(), evidence=text, granted=False))
        good, fine = self.single(COINS)
        account = self.account()
        fine.rows.append((account, False, None))
        self.counts["read"] += 1
        self.counts["partial"] += 1
        return [self.row(account=account, granted=False,
                         evidences=[self.text(self.payload(good, fine)), text])]

    def malformed(self):
        kind = self.random.randrange(9)
        if kind == 0:
            self.counts["read"] += 1
            self.counts["empty"] += 1
            return [self.random.choice([b"\n", b"\r\n", b"  \n"])]
        return self.rejected([
            b"", b'{"account":"u1","account":"u2","evidence":"x"}\n', b"not json\n",
            b'{"account":"a\xff","evidence":"x"}\n', b'{"account":" u1","evidence":"x"}\n',
            b'{"Account":"u1","evidence":"x"}\n', b'{"account":"u1"}\n',
            b'{"evidence":"x","granted":"yes"}\n', b'{"evidence":"\x00"}\n'][kind])

    # ---- hearsay

    def told(self, group, **members):
        self.counts["read"] += 1
        self.counts["hearsay"] += 1
        account = self.account()
        group.hearsay.append((account, members.get("expiresAtMs"), members.get("revoked", False)))
        return [self.row(account=account, originalTransactionId=group.original,
                         environment=group.environment, **members)]

    def hearsay_alone(self):
        return self.told(self.group(), productId=MONTHLY,
                         expiresAtMs=self.random.choice([None, NOW + DAY]))

    def hearsay_of_refund(self):
        group, purchase = self.single(COINS)
        account = self.account()
        rows = self.entry(group, purchase, account, self.text(self.payload(group, purchase)))
        self.counts["read"] += 1
        self.counts["hearsay"] += 1
        group.hearsay.append((account, None, True))
        return rows + [self.row(account=account, originalTransactionId=group.original,
                                environment=group.environment, revoked=True)]

    def answer(self):
        """An answer of verifyReceipt that the shop stored, without the receipt."""
        group = self.group("Production")
        self.counts["read"] += 1
        self.counts["hearsay"] += 1
        end = NOW - DAY
        account = self.account()
        group.hearsay.append((account, end, False))
        body = {"status": 0, "environment": "Production", "latest_receipt_info": [
            {"original_transaction_id": group.original, "transaction_id": group.original,
             "product_id": MONTHLY, "expires_date_ms": str(end)}]}
        return [self.row(account=account, evidence=json.dumps(body))]
