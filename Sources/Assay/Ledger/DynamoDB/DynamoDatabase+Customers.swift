/// The index of customers (docs/spec/ledger-statements.md §3, "customers").
///
/// A join writes the account and then reads the download; a withdrawal of consent writes the
/// download and then reads the accounts. Whichever is first, the other one finds it (CUS-60).
extension DynamoDatabase {
  /// The largest number of pages of accounts that one withdrawal restricts, of 50 each (CUS-62).
  private static let pageCap = 10

  func join(
    _ entries: [CustomerEntry], to account: Text
  ) throws(LedgerSuspension) -> [Restriction] {
    let nowMs = context.nowMs
    try changeEach(
      entries.flatMap { entry in
        (entry.download.map { [$0.insertion] } ?? [])
          + CustomerRow(entry, of: account, nowMs: nowMs).requests(nowMs: nowMs)
      })
    let downloads = entries.filter { $0.key.isDownload }.map { $0.key.text }
    let (rescinded, restrictions) = try standing(at: downloads, of: account)
    return try restrict(account, rescinded, restrictions)
  }

  func downloadsLeft(
    in environment: Text, of bundleId: Text, beforeMs: Int64
  ) throws(LedgerSuspension) -> [DownloadRow] {
    var place = DifferencePlace.start
    // The index may still have the time before the newest answer.
    for _ in 0..<Self.duePageCap {
      let (keys, next) = try left(
        { DynamoKey.due(downloadsIn: environment, of: bundleId, $0) }, beforeMs: beforeMs &- 1,
        after: place
      ) { $0.partition }
      let rows = try items(keys.map { $0.key }).map { item throws(LedgerSuspension) in
        try DownloadRow(try item.row(DownloadRow.columns))
      }.filter { $0.askedAtMs < beforeMs }
      guard rows.isEmpty, let next else { return rows }
      place = next
    }
    return []
  }

  func store(_ next: DownloadRow, over read: DownloadRow) throws(LedgerSuspension) {
    var request = DynamoRequest.update(
      .download(next.id), if: "#asked_at_ms = :read_asked_at_ms",
      [("read_asked_at_ms", .integer(read.askedAtMs))])
    request.set([
      ("revision", DatabaseValue(next.revision.isEmpty ? nil : next.revision)),
      ("refund_revision", DatabaseValue(next.refundRevision.isEmpty ? nil : next.refundRevision)),
      ("asked_at_ms", .integer(next.askedAtMs)), ("due_at_ms", .integer(next.askedAtMs)),
    ])
    _ = try change(request)
  }

  /// Reads which of the downloads are rescinded and when, and the restrictions of an account.
  private func standing(
    at downloads: [Text], of account: Text
  ) throws(LedgerSuspension) -> (
    rescinded: [(id: Text, atMs: Int64)], restrictions: [Restriction]
  ) {
    let results = try run { table in
      downloads.map { DynamoRequest.get(.download($0)).call(table) }
        + [DynamoQuery.account(account, DynamoKey.restrictions).call(table)]
    }
    var rescinded: [(id: Text, atMs: Int64)] = []
    for (place, id) in downloads.enumerated() {
      if let item = try results.item(place),
        case .integer(let atMs) = try item.value("rescinded_at_ms")
      {
        rescinded.append((id, atMs))
      }
    }
    return (rescinded, try results.restrictions(downloads.count, of: account))
  }

  /// Restricts an account by downloads that it is not restricted by yet. Returns all of its
  /// restrictions.
  private func restrict(
    _ account: Text, _ rescinded: [(id: Text, atMs: Int64)], _ restrictions: [Restriction]
  ) throws(LedgerSuspension) -> [Restriction] {
    var new: [Restriction] = []
    for (id, atMs) in rescinded where !restrictions.contains(where: { $0.source == id }) {
      new.append(
        Restriction(account: account, source: id, reason: "consent", restrictedAtMs: atMs))
    }
    try changeEach(new.map { $0.insertion })
    return restrictions + new
  }

  func rescind(
    _ rescission: Rescission
  ) throws(LedgerSuspension) -> (accounts: [RestrictedAccount], hasMore: Bool) {
    let id = rescission.download
    let change = DynamoRequest.update(
      .download(id),
      """
      SET #id = :id, #rescinded_at_ms = :at_ms, \
      #consent_at_ms = if_not_exists(#consent_at_ms, :zero)
      """,
      if: """
        (attribute_not_exists(#consent_at_ms) OR #consent_at_ms < :at_ms) \
        AND (attribute_not_exists(#rescinded_at_ms) OR #rescinded_at_ms < :at_ms)
        """,
      [("id", .text(id)), ("at_ms", .integer(rescission.atMs)), ("zero", .integer(0))])
    guard let (_, item) = try update(change) else { throw .rowMissing }
    // Consent was given again since.
    guard case .integer(let atMs) = try item.value("rescinded_at_ms") else { return ([], false) }
    var accounts: [RestrictedAccount] = []
    var last: Text = ""
    for _ in 0..<Self.pageCap {
      let rows = try customers(at: id, after: last)
      accounts += try restrict(rows, id, atMs)
      guard rows.count >= DynamoQuery.walkCap, let row = rows.last else {
        let listed = Array(accounts.prefix(Rescission.accountCap))
        return (listed, accounts.count > Rescission.accountCap)
      }
      last = DynamoKey.account(row.account)
    }
    return (Array(accounts.prefix(Rescission.accountCap)), true)
  }

  /// Returns a page of the accounts at a key, by their sort keys.
  private func customers(
    at id: Text, after last: Text
  ) throws(LedgerSuspension) -> [CustomerRow] {
    let query = DynamoQuery(
      condition: "#PK = :pk AND #SK > :sk",
      values: [
        ("pk", .text(DynamoKey.customers(id))), ("sk", .text(last.isEmpty ? " " : last)),
      ], limit: Int64(DynamoQuery.walkCap))
    return try run { [query.call($0)] }.customers(0)
  }

  private func restrict(
    _ rows: [CustomerRow], _ id: Text, _ atMs: Int64
  ) throws(LedgerSuspension) -> [RestrictedAccount] {
    guard !rows.isEmpty else { return [] }
    let results = try run { table in
      rows.map { row in
        Restriction(account: row.account, source: id, reason: "consent", restrictedAtMs: atMs)
          .insertion.call(table)
      }
    }
    var accounts: [RestrictedAccount] = []
    for (place, row) in rows.enumerated() {
      let (isMade, item) = try results.change(place)
      let standing = try item.map { item throws(LedgerSuspension) in try Restriction(item) }
      accounts.append(
        RestrictedAccount(
          account: row.account, role: row.role,
          restrictedAtMs: isMade ? atMs : standing?.restrictedAtMs ?? atMs, changed: isMade))
    }
    return accounts
  }

  func restrict(
    _ restriction: Restriction
  ) throws(LedgerSuspension) -> (restriction: Restriction, isMade: Bool) {
    let (isMade, item) = try change(restriction.insertion)
    guard !isMade else { return (restriction, true) }
    guard let item else { throw .rowMissing }
    return (try Restriction(item), false)
  }

  func lift(_ restrictions: [Restriction]) throws(LedgerSuspension) {
    // The download first: an account that is joined to it meanwhile is not restricted by it.
    var changes: [DynamoRequest] = []
    for restriction in restrictions {
      if restriction.isOfConsent {
        changes.append(
          .update(
            .download(restriction.source),
            "SET #consent_at_ms = :now_ms REMOVE #rescinded_at_ms",
            if: "attribute_exists(#rescinded_at_ms)", [("now_ms", .integer(context.nowMs))]))
      }
      changes.append(.delete(.restriction(restriction.account, restriction.source)))
    }
    try changeEach(changes)
  }

  func restrictions(of account: Text) throws(LedgerSuspension) -> [Restriction] {
    try run { [DynamoQuery.account(account, DynamoKey.restrictions).call($0)] }
      .restrictions(0, of: account)
  }

  func areRestricted(_ accounts: [Text]) throws(LedgerSuspension) -> [Bool] {
    guard !accounts.isEmpty else { return [] }
    let results = try run { table in
      accounts.map { DynamoQuery.account($0, DynamoKey.restrictions).call(table) }
    }
    return try results.indices.map { place throws(LedgerSuspension) in
      !(try results.items(place).isEmpty)
    }
  }

  /// Reads restrictions and copies of subscriptions by one query: their sort keys are neighbours.
  func standing(
    of account: Text
  ) throws(LedgerSuspension) -> (subscriptions: [SubscriptionRow], restrictions: [Restriction]) {
    let query = DynamoQuery(
      condition: "#PK = :pk AND #SK BETWEEN :first AND :last",
      values: [
        ("pk", .text(DynamoKey.account(account))), ("first", .text(DynamoKey.restrictions)),
        ("last", .text(Text(DynamoKey.subscriptionsOfAccount.utf8 + [0x7e]))),
      ], limit: Int64(DynamoQuery.walkCap) &* 2)
    let items = try run { [query.call($0)] }.items(0)
    var subscriptions: [SubscriptionRow] = []
    var restrictions: [Restriction] = []
    for item in items {
      let sort = try item.key().sort.utf8
      if sort.starts(with: DynamoKey.restrictions.utf8) {
        restrictions.append(try Restriction(item))
      } else if sort.starts(with: DynamoKey.subscriptionsOfAccount.utf8) {
        subscriptions.append(try SubscriptionRow(item))
      }
    }
    for row in restrictions where row.account != account { throw .shape("account") }
    return (
      try subscriptions.ordered { $0.asOfMs > $1.asOfMs }.owned(by: account), restrictions
    )
  }

  func customers(at keys: [Text]) throws(LedgerSuspension) -> [[CustomerRow]] {
    guard !keys.isEmpty else { return [] }
    let results = try run { table in
      keys.map { id in
        DynamoQuery(
          condition: "#PK = :pk", values: [("pk", .text(DynamoKey.customers(id)))],
          limit: Int64(CustomerRow.cap)
        ).call(table)
      }
    }
    return try results.indices.map { place throws(LedgerSuspension) in
      try results.customers(place)
    }
  }

  func customers(
    of account: Text
  ) throws(LedgerSuspension) -> (rows: [CustomerRow], isEventual: Bool) {
    let query = DynamoQuery.owned(by: account, "C#", newest: Int64(CustomerRow.cap))
    let rows = try run { [query.call($0)] }.customers(0)
    for row in rows where row.account != account { throw .shape("account") }
    return (rows, true)
  }

  // MARK: signals

  func purchaseCounts(
    of accounts: [Text], sinceMs: Int64
  ) throws(LedgerSuspension) -> [PurchaseCount] {
    let results = try run { table in
      accounts.map { account in
        var query = DynamoQuery(
          index: "assay-owner",
          condition: "#owner_pk = :owner_pk AND #owner_sk BETWEEN :first AND :last",
          values: [
            ("owner_pk", .text(DynamoKey.account(account))),
            ("first", .text(DynamoKey.ordered("L#", sinceMs))), ("last", .text("L#~")),
          ], limit: PurchaseCount.cap)
        query.isNewestFirst = true
        return query.call(table)
      }
    }
    return try results.indices.map { place throws(LedgerSuspension) in
      let rows = try results.items(place)
      var refunds: Int64 = 0
      for row in rows where try row.text("state") == "revoked" { refunds &+= 1 }
      return try PurchaseCount(purchases: Int64(rows.count), refunds: refunds)
    }
  }

  func deviceKeys(of account: Text) throws(LedgerSuspension) -> [DeviceKeySummary] {
    let query = DynamoQuery.owned(by: account, "K#", newest: Int64(DeviceKeySummary.cap))
    return try run { [query.call($0)] }.items(0).map { item throws(LedgerSuspension) in
      guard let state = KeyRow.State(try item.text("state")) else { throw .shape("state") }
      return DeviceKeySummary(
        createdAtMs: try item.integer("created_at_ms"), isActive: state == .active,
        risk: try item.value("risk") == .null ? nil : try item.integer("risk"))
    }
  }

  // MARK: merged and forgotten accounts

  /// Gives the rows and restrictions of an account to another one: the new rows first, then what
  /// restricts them, and the old rows last (CUS-60).
  ///
  /// - Returns: Whether all rows were moved.
  func moveCustomers(from: Text, to: Text) throws(LedgerSuspension) -> Bool {
    let rows = try customers(of: from).rows
    let restrictions = try restrictions(of: from)
    var moved: [DynamoRequest] = []
    for var row in rows {
      row.account = to
      moved.append(.insert(.customer(row.id, to), row.attributes))
    }
    try changeEach(moved)
    let downloads = rows.map { $0.id }.filter(CustomerKey.isDownload)
    let (rescinded, own) = try standing(at: downloads, of: to)
    let taken = restrictions.map {
      Restriction(
        account: to, source: $0.source, reason: $0.reason, restrictedAtMs: $0.restrictedAtMs)
    }
    try changeEach(taken.map { $0.insertion })
    _ = try restrict(to, rescinded, own + taken)
    try changeEach(rows.map { .delete(.customer($0.id, from)) })
    return rows.count < CustomerRow.cap
  }

  /// Deletes the rows and restrictions of an account.
  ///
  /// - Returns: Whether all rows were deleted.
  func forgetCustomer(_ account: Text) throws(LedgerSuspension) -> Bool {
    let rows = try customers(of: account).rows
    let restrictions = try restrictions(of: account)
    try changeEach(
      rows.map { .delete(.customer($0.id, account)) }
        + restrictions.map { .delete(.restriction(account, $0.source)) })
    return rows.count < CustomerRow.cap
  }
}

extension CustomerRow {
  fileprivate init(_ item: DynamoItem) throws(LedgerSuspension) {
    try self.init(try item.row(CustomerRow.columns))
  }

  /// The attributes beside the key, with those of the index of owners.
  fileprivate var attributes: DynamoRequest.Values {
    arguments + [
      ("owner_pk", .text(DynamoKey.account(account))),
      ("owner_sk", .text(DynamoKey.ordered("C#", lastSeenAtMs))),
    ]
  }

  /// The requests that insert the row or see it again, unless it was seen an hour ago or later, and
  /// that raise its role.
  fileprivate func requests(nowMs: Int64) -> [DynamoRequest] {
    let key = DynamoKey.customer(id, account)
    var requests: [DynamoRequest] = [
      .update(
        key,
        """
        SET #id = :id, #account = :account, #role = if_not_exists(#role, :role), \
        #first_seen_at_ms = if_not_exists(#first_seen_at_ms, :first_seen_at_ms), \
        #last_seen_at_ms = :last_seen_at_ms, #owner_pk = :owner_pk, #owner_sk = :owner_sk
        """, if: "attribute_not_exists(#PK) OR #last_seen_at_ms < :before_ms",
        attributes + [("before_ms", .integer(nowMs &- CustomerRow.freshMs))])
    ]
    if role != .holder {
      requests.append(
        .update(
          key, "SET #role = :role", if: "#role < :role", [("role", .integer(role.rawValue))]))
    }
    return requests
  }
}

extension DownloadRow {
  /// The update that adds the transaction, unless the download has one.
  fileprivate var insertion: DynamoRequest {
    let key = DynamoKey.download(id)
    let app = DynamoKey.due(downloadsIn: environment, of: bundleId, key.dueNumber)
    return .update(
      key,
      """
      SET #id = :id, #consent_at_ms = if_not_exists(#consent_at_ms, :zero), \
      #environment = :environment, #bundle_id = :bundle_id, #transaction_id = :transaction_id, \
      #asked_at_ms = :zero, #due_pk = :due_pk, #due_at_ms = :zero
      """, if: "attribute_not_exists(#transaction_id)",
      arguments + [("zero", .integer(0)), ("due_pk", .text(app))])
  }
}

extension Restriction {
  fileprivate init(_ item: DynamoItem) throws(LedgerSuspension) {
    try self.init(try item.row(Restriction.columns))
  }

  /// The put of the restriction, unless the account has one of this source.
  fileprivate var insertion: DynamoRequest { .insert(.restriction(account, source), arguments) }
}

extension [DatabaseResult] {
  fileprivate func customers(_ place: Int) throws(LedgerSuspension) -> [CustomerRow] {
    try items(place).map { item throws(LedgerSuspension) in try CustomerRow(item) }
  }

  fileprivate func restrictions(
    _ place: Int, of account: Text
  ) throws(LedgerSuspension) -> [Restriction] {
    let found = try items(place).map { item throws(LedgerSuspension) in try Restriction(item) }
    for row in found where row.account != account { throw .shape("account") }
    return found
  }
}
