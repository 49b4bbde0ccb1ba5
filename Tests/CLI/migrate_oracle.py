"""What a migration must say of a world, computed from the truth alone."""
from collections import Counter

import migrate_world as worlds
from migrate_world import COINS, LIFETIME, MONTHLY, NOW, SEASON

KNOWN = {COINS, LIFETIME, MONTHLY, SEASON, "com.example.app.standard.monthly"}
ONCE = {COINS, LIFETIME}


class Oracle:
    """Counts and keys of the report's files."""

    def __init__(self, world, conflict="hold"):
        self.world, self.settles = world, conflict == "earliest"
        self.purchases, self.ask = Counter(), {}
        self.subscriptions = Counter()
        self.owed, self.conflicts, self.takeback = {}, {}, {}
        #: (key, account) of what the ledger must have.
        self.ledger, self.lines = {}, {}
        for group in world.groups:
            self.judge(group)
        # A text of two rows is one text.
        texts = dict(world.texts)
        self.evidence = {"texts": None, "distinct": len(texts),
                         "verified": sum(texts.values()),
                         "refused": len(texts) - sum(texts.values())}

    def owner(self, group):
        """Return the owner, and the kind of the conflict."""
        named = {}
        for purchase in group.purchases:
            for account, _, received in purchase.rows:
                if account:
                    named.setdefault(account, []).append(received)
        for account, *_ in group.hearsay:
            if account:
                named.setdefault(account, []).append(None)
        token = self.world.tokens.get(group.token)
        if token:
            return (None, "token") if set(named) - {token} else (token, None)
        if len(named) < 2 or not group.purchases:
            return next(iter(named), None) if len(named) == 1 else None, None
        if self.settles and all(None not in times for times in named.values()):
            first = sorted((min(times), account) for account, times in named.items())
            if first[0][0] < first[1][0]:
                return first[0][1], "settled"
        return None, "accounts"

    def judge(self, group):
        key = f"{group.environment}/{group.original}"
        owner, conflict = self.owner(group)
        if conflict:
            self.conflicts[key] = conflict
        is_held = conflict not in (None, "settled")
        periods = [p for p in group.purchases if p.product in KNOWN - ONCE]
        last = max(periods, key=lambda p: (not p.upgraded, p.bought), default=None)
        outcomes = {}
        for purchase in group.purchases:
            granted = any(g for a, g, _ in purchase.rows if a in (None, owner))
            name = self.outcome(group, purchase, owner, is_held, granted, purchase is last)
            outcomes[id(purchase)] = name
            self.purchases["distinct"] += 1
            self.purchases[name] += 1
            own_key = self.key(group, purchase)
            if name in ("owed", "ownerless"):
                self.owed[own_key] = owner
            if name == "revoked" and purchase.product in ONCE:
                self.ledger[own_key] = ("revoked", "")
                if granted:
                    self.takeback[own_key] = (owner, purchase.share
                                              if purchase.product == COINS else 100_000)
            if name == "granted":
                self.ledger[own_key] = ("granted", owner)
        if last:
            self.subscriptions["distinct"] += 1
            if outcomes[id(last)] in ("live", "conflict"):
                self.subscriptions[outcomes[id(last)]] += 1
            if not is_held:
                self.lines[key] = owner or ""
        for purchase in group.purchases:
            if outcomes[id(purchase)] == "granted" and purchase.product == LIFETIME:
                self.lines[key] = owner
        reason = self.question(group, last)
        if reason:
            self.ask[key] = reason

    def outcome(self, group, purchase, owner, is_held, granted, is_last):
        if is_held:
            return "conflict"
        if purchase.product not in KNOWN:
            return "unknownProduct"
        if purchase.product in ONCE and not owner:
            return "ownerless"
        if purchase.revoked:
            return "revoked"
        if purchase.upgraded:
            return "expired"
        if purchase.product in ONCE:
            return "granted" if granted else "owed"
        end = max(self.end(purchase), (group.grace or 0) if is_last else 0)
        return "live" if is_last and end > NOW else "expired"

    @staticmethod
    def end(purchase):
        if purchase.product == SEASON:
            return purchase.bought + 90 * worlds.DAY
        return purchase.expires

    @staticmethod
    def key(group, purchase):
        own = {COINS: purchase.transaction, LIFETIME: group.original,
               SEASON: purchase.transaction}.get(purchase.product)
        if own is None and purchase.product in KNOWN:
            own = f"{group.original}/{purchase.web_order}"
        return f"{group.environment}/{own or purchase.transaction}"

    def question(self, group, last):
        told_end = max((end for _, end, _ in group.hearsay if end), default=None)
        if group.hearsay:
            if not group.purchases:
                return "hearsay"
            if any(revoked for *_, revoked in group.hearsay) and not any(
                    p.revoked for p in group.purchases):
                return "refund-told"
            ends = [p.expires for p in group.purchases if p.expires]
            if told_end and ends and told_end > max(ends):
                return "hearsay"
        if last and not group.renewal and last.product != SEASON and self.end(last) <= NOW:
            return "stale-subscription"
        return None
