import AssayAuthority
import CSystem

@_spi(AssayMigrate) import Assay

/// The files of the report (MIG-41). Lines are collected for a batch, and are on the disk before
/// the batch is committed with their lengths.
final class MigrateReport {
  enum File: String, CaseIterable {
    case owed, conflicts, takeback, ask
  }

  private let folder: String
  private let names: [String]
  private var pending: [File: [UInt8]] = [:]
  private var byteCounts: [File: Int] = [:]
  private var files: [File: Int] = [:]

  /// - Parameter names: the names of the input files.
  init(_ folder: String, _ names: [String]) {
    self.folder = folder
    self.names = names
  }

  /// Cuts the files to the lengths that the journal has, and forgets lines that were not written.
  func begin(_ tally: MigrateTally) throws {
    pending = [:]
    for file in File.allCases {
      byteCounts[file] = tally["bytes", file.rawValue]
      _ = try WorkFile(path(file), keeping: tally["bytes", file.rawValue])
    }
  }

  /// Writes what was collected to the disk, and its lengths into the tally.
  func write(_ tally: inout MigrateTally) throws {
    for file in File.allCases {
      guard let bytes = pending[file], !bytes.isEmpty else { continue }
      let output = try WorkFile(path(file), keeping: byteCounts[file] ?? 0)
      try output.write(bytes)
      try output.hold()
      byteCounts[file, default: 0] += bytes.count
      tally.add("bytes", file.rawValue, bytes.count)
    }
    pending = [:]
  }

  private func path(_ file: File) -> String { "\(folder)/\(file.rawValue).ndjson" }

  private func add(_ file: File, _ members: [(String, JSONText?)], _ tally: inout MigrateTally) {
    let line = JSONText.object(members.map { .init($0.0, $0.1 ?? .null) })
    pending[file, default: []] += line.bytes + [0x0a]
    tally.add("files", file.rawValue)
  }

  /// Returns the places of rows as text.
  func places(_ rows: RowPlaces) -> JSONText {
    let first = rows.first.map { JSONText.string(place($0)) }
    let more = rows.moreCount == 0 ? [] : [JSONText.string("+\(rows.moreCount)")]
    return .array(first + more)
  }

  func place(_ row: RowPlace) -> String { "\(name(row.file)):\(row.line)" }

  func name(_ file: Int) -> String { names.indices.contains(file) ? names[file] : "?" }

  // MARK: groups

  /// Counts a group, and adds its lines.
  func add(_ plan: GroupPlan, _ options: MigrateOptions, nowMs: Int64, _ tally: inout MigrateTally)
  {
    let (group, environment) = (plan.group, plan.group.key.prefix { $0 != "/" })
    tally.add("groups", "read")
    for item in plan.items {
      tally.add("purchases", "distinct")
      tally.add("purchases", item.outcome.rawValue)
      tally.add("environments", item.purchase.newest.environment)
      if item.outcome == .unknownProduct {
        tally.addName("unknownProducts", item.purchase.newest.productId)
      }
      if item.outcome == .owed || item.outcome == .ownerless { owed(item, plan.account, &tally) }
      if item.outcome == .revoked, options.isOnce(item.purchase.newest.kind),
        item.isGranted || item.isTakenBack
      {
        takeBack(item, plan.account, &tally)
      }
    }
    if let latest = plan.latest {
      tally.add("subscriptions", "distinct")
      let outcome = plan.items[latest].outcome
      if outcome == .live || outcome == .conflict {
        tally.add("subscriptions", outcome.rawValue)
      }
    }
    if let conflict = plan.conflict {
      add(
        .conflicts,
        [
          ("kind", .string(conflict.kind.rawValue)), ("environment", .string(String(environment))),
          ("key", .string(group.key)), ("accounts", accounts(of: group)),
          ("moreAccounts", .integer(Int64(group.moreAccounts))),
          ("settled", .boolean(conflict.isSettled)),
          ("account", conflict.isSettled ? plan.account.map { .string($0) } : nil),
        ], &tally)
    }
    if let reason = plan.question(nowMs: nowMs) { ask(plan, reason, &tally) }
  }

  private func accounts(of group: MigrateGroup) -> JSONText {
    let all = group.accounts.sorted { $0.key < $1.key }.map { name, account in
      JSONText.object([
        .init("account", .string(name)),
        .init("firstMs", account.firstMs.map { .integer($0) } ?? .null),
        .init("granted", .boolean(account.isGranted)),
        .init("rows", places(account.places)),
      ])
    }
    return .array(all)
  }

  private func owed(_ item: GroupPlan.Item, _ account: String?, _ tally: inout MigrateTally) {
    let fact = item.purchase.newest
    add(
      .owed,
      [
        ("account", account.map { .string($0) }), ("environment", .string(fact.environment)),
        ("purchaseKey", .string(fact.purchaseKey)), ("productId", .string(fact.productId)),
        ("plan", fact.plan.isEmpty ? nil : .string(fact.plan)), ("units", .integer(fact.units)),
        ("purchasedAtMs", .integer(fact.purchasedAtMs)), ("granted", .boolean(item.isGranted)),
        ("rows", places(item.purchase.places)),
      ], &tally)
  }

  private func takeBack(_ item: GroupPlan.Item, _ account: String?, _ tally: inout MigrateTally) {
    let (fact, told) = (item.purchase.newest, item.purchase.told)
    add(
      .takeback,
      [
        ("account", account.map { .string($0) }), ("environment", .string(fact.environment)),
        ("purchaseKey", .string(fact.purchaseKey)), ("productId", .string(fact.productId)),
        ("units", .integer(fact.units)),
        ("revokedAtMs", told?.revokedAtMs.map { .integer($0) }),
        ("reason", told?.revocationReason.map { .integer($0) }),
        ("percentage", told.map { .integer($0.revokedShare) }),
        ("rows", places(item.purchase.places)),
      ], &tally)
  }

  private func ask(_ plan: GroupPlan, _ reason: String, _ tally: inout MigrateTally) {
    let parts = plan.group.key.split(separator: "/", maxSplits: 1)
    let hearsay = plan.group.hearsay
    let isOriginal = !plan.group.purchases.isEmpty || hearsay?.isOriginal ?? false
    let places = hearsay?.places ?? plan.latest.map { plan.items[$0].purchase.places }
    let isSubscription = reason == "stale-subscription"
    tally.add("ask", reason)
    add(
      .ask,
      [
        ("environment", parts.first.map { .string(String($0)) }),
        (
          isOriginal ? "originalTransactionId" : "transactionId",
          parts.last.map { .string(String($0)) }
        ),
        ("account", plan.account.map { .string($0) }), ("reason", .string(reason)),
        (
          "operation",
          .string(
            isSubscription ? "get-all-subscription-statuses" : "get-transaction-history")
        ),
        ("rows", places.map { self.places($0) }),
      ], &tally)
  }
}

extension MigrateReport {
  /// Writes `report.json` (MIG-40).
  ///
  /// - Parameter seconds: the time that this start took; `nil` while it runs.
  func summarize(
    _ tally: MigrateTally, _ work: WorkFolder, state: String, seconds: Int?
  ) throws {
    var full = tally
    full.complete()
    let json = JSONText.object(
      [
        .init("migrate", .integer(1)), .init("run", .string(work.run)),
        .init("state", .string(state)), .init("nowMs", .integer(work.nowMs)),
        .init("seconds", seconds.map { .integer(Int64($0)) } ?? .null),
      ] + full.json.members.filter { $0.name != "bytes" && $0.name != "groups" })
    try OutputFile.write(json.bytes + [0x0a], to: folder + "/report.json", mode: 0o600)
  }

  /// Returns what standard output gets: the totals, and where the report is.
  static func totals(_ tally: MigrateTally, _ folder: String) -> String {
    func line(_ title: String, _ group: String, _ names: [String]) -> String {
      let counts = names.map { "\($0) \(Figures.grouped(tally[group, $0]))" }
      return Terminal.padded(title, to: 14) + counts.joined(separator: ", ")
    }
    return [
      line("rows", "rows", ["read", "good", "partial", "hearsay", "rejected"]),
      line("evidence", "evidence", ["texts", "distinct", "verified", "refused"]),
      line("purchases", "purchases", ["seen", "distinct", "granted", "owed", "revoked"]),
      line("", "purchases", ["live", "expired", "present", "pending", "stale"]),
      line("", "purchases", ["conflict", "ownerless", "unknownProduct", "excluded"]),
      line("subscriptions", "subscriptions", ["distinct", "live", "conflict"]),
      line("files", "files", ["owed", "conflicts", "takeback", "ask", "reject"]),
      line("ledger", "store", ["batches", "changed"]),
      Terminal.padded("report", to: 14) + folder + "/report.json",
    ].joined(separator: "\n")
  }
}

extension MigrateTally {
  /// Adds the counts that are 0.
  fileprivate mutating func complete() {
    let all: [(String, [String])] = [
      ("rows", ["read", "empty", "skipped", "good", "partial", "hearsay", "rejected"]),
      ("evidence", ["texts", "distinct", "verified", "refused"]),
      ("evidenceKinds", []), ("evidenceStatuses", []),
      ("purchases", ["seen", "distinct"] + GroupPlan.Outcome.allCases.map(\.rawValue)),
      ("subscriptions", ["distinct", "live", "conflict"]), ("ask", []), ("environments", []),
      ("unknownProducts", []), ("skippedStores", []), ("unknownMembers", []),
      ("files", MigrateReport.File.allCases.map(\.rawValue) + ["reject"]),
      ("store", ["batches", "changed"]),
    ]
    for (group, names) in all {
      hold(group)
      for name in names { add(group, name, 0) }
    }
  }
}
