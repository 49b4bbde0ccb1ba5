/// `schema.check`: the tables have their columns, and this is a primary, at start-up and
/// not at the first purchase (STM-1, STM-7).
struct SchemaCheck: StoreOperation {
  private static let tables: [(name: StaticString, statement: SQLStatement)] = [
    ("name", .checkName), ("ledger", .checkLedger), ("line", .checkLine),
    ("quota", .checkQuota), ("challenge", .checkChallenge), ("key", .checkKey),
    ("once", .checkOnce), ("link", .checkLink), ("audit", .checkAudit),
  ]

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    var checked: [StaticString] = []
    switch talk.context.dialect {
    case .sqlite, .postgres, .mysql: checked = try tables(&talk)
    case .redis: try redis(&talk)
    case .dynamodb: try dynamo(&talk)
    }
    return StoreOutcome { writer in
      writer.name("tables")
      writer.beginArray()
      for name in checked { writer.string(name) }
      writer.endArray()
      writer.member("primary", boolean: true)
    }
  }

  /// STM-7: 1, or another word, says that it is none.
  private static func standby(_ place: String) -> StoreStop {
    .refused(Refusal(.unavailableStoreStandby, "STO-74", at: place))
  }

  private func tables(_ talk: inout StoreTalk) throws(StoreStop) -> [StaticString] {
    var tables = Self.tables
    if talk.context.policy.keepEvidence { tables.append(("evidence", .checkEvidence)) }
    let isSQLite = talk.context.dialect == .sqlite
    let results = try talk.sql {
      var calls: [(SQLStatement, StoreTalk.Arguments)] = tables.map { ($0.statement, []) }
      calls.append((.checkPrimary, []))
      if isSQLite { calls.append((.checkJournal, [])) }
      return calls
    }
    for place in tables.indices {
      guard try results.rows(place).isEmpty else { throw .shape("results") }
    }
    var row = try results.row(tables.count)
    guard try row.integer() == 0 else { throw Self.standby("primary") }
    if isSQLite {
      var mode = try results.row(tables.count &+ 1)
      guard try mode.text() == "wal" else { throw Self.standby("journal_mode") }
    }
    return tables.map { $0.name }
  }

  private func redis(_ talk: inout StoreTalk) throws(StoreStop) {
    let results = try talk.run { StoreStep(calls: [.command(["ROLE"])]) }
    guard case .reply(let words)? = results.first else { throw .shape("reply") }
    guard words.first == .text("master") else { throw Self.standby("ROLE") }
  }

  /// The table and both indexes take part.
  private func dynamo(_ talk: inout StoreTalk) throws(StoreStop) {
    let name = talk.context.policy.table ?? ""
    let results = try talk.run {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("TableName", name)
      writer.endObject()
      return StoreStep(calls: [.dynamo(api: "DescribeTable", input: writer.bytes)])
    }
    guard case .output(let output)? = results.first, let table = output.member("Table") else {
      throw .shape("output.Table")
    }
    guard table.member("TableStatus")?.isText("ACTIVE") == true else {
      throw Self.standby("TableStatus")
    }
    guard let indexes = table.member("GlobalSecondaryIndexes"), indexes.kind == .array else {
      throw Self.standby("GlobalSecondaryIndexes")
    }
    for name in ["assay-owner", "assay-due"] as [StaticString] {
      let index = indexes.children.first { $0.member("IndexName")?.isText(name) == true }
      guard index?.member("IndexStatus")?.isText("ACTIVE") == true else {
        throw Self.standby(Text(stringLiteral: name).string)
      }
    }
  }
}
