/// The key of a row in the one table (docs/spec/ledger-statements.md §3).
struct DynamoKey {
  let partition: Text
  let sort: Text

  init(_ partition: Text, _ sort: Text) {
    self.partition = partition
    self.sort = sort
  }

  private init(_ kind: StaticString, _ id: Text, _ sort: Text) {
    self.init(Text(Text(stringLiteral: kind).utf8 + id.utf8), sort)
  }

  /// - Parameter key: A transaction key or a purchase key.
  static func name(_ key: Text) -> DynamoKey { DynamoKey("PURCHASE_KEY#", key, "PURCHASE_KEY") }

  static func ledger(_ purchaseKey: Text) -> DynamoKey {
    DynamoKey(purchases, purchaseKey, "PURCHASE")
  }

  /// The prefix of the partitions of purchases, before the purchase key.
  static let purchases: StaticString = "PURCHASE#"

  static func run(_ id: Text) -> DynamoKey { DynamoKey("RUN#", id, "RUN") }

  static func difference(_ id: Text) -> DynamoKey { DynamoKey(differences, id, "DIFFERENCE") }

  /// The prefix of the partitions of differences, before the id.
  static let differences: StaticString = "DIFFERENCE#"

  static func refund(_ id: Text) -> DynamoKey { DynamoKey(refunds, id, "REFUND") }

  /// The prefix of the partitions of refunds, before the id.
  static let refunds: StaticString = "REFUND#"

  /// Returns the key of a subscription's own row, which decides.
  static func subscription(_ environment: Text, _ originalTransactionId: Text) -> DynamoKey {
    let id = Text(environment.utf8 + [0x23] + originalTransactionId.utf8)
    return DynamoKey("SUBSCRIPTION#", id, "SUBSCRIPTION")
  }

  /// Returns the key of the copy of a subscription that its account reads.
  static func copy(
    of account: Text, _ environment: Text, _ originalTransactionId: Text
  ) -> DynamoKey {
    let sort = subscriptionsOfAccount.utf8 + environment.utf8 + [0x23] + originalTransactionId.utf8
    return DynamoKey("USER#", account, Text(sort))
  }

  /// The prefix of the sort keys of an account's subscriptions.
  static let subscriptionsOfAccount: Text = "SUB#"

  /// The prefix of the sort keys of counted days.
  static let days: Text = "DATE#"

  /// Returns the key of the row with the meters of one bucket.
  ///
  /// - Parameter scope: `USER#…`, `SIGNUP_IP#…` or `APPLE#…`, as in SQL.
  static func meters(_ scope: Text, _ bucket: Text) -> DynamoKey {
    DynamoKey(scope, Text(days.utf8 + bucket.utf8))
  }

  static func challenge(_ id: Text) -> DynamoKey { DynamoKey("CHAL#", id, "CHAL") }

  static func attestKey(_ keyId: Text) -> DynamoKey {
    DynamoKey("DEVICE_KEY#", keyId, "DEVICE_KEY")
  }

  static func once(_ id: Text) -> DynamoKey { DynamoKey("EVENT#", id, "EVENT") }

  static func link(_ account: Text) -> DynamoKey {
    DynamoKey("MERGED_ACCOUNT#", account, "MERGED_ACCOUNT")
  }

  static func audit(_ id: Text) -> DynamoKey { DynamoKey("AUDIT#", id, "AUDIT") }

  static let schema = DynamoKey("SCHEMA#", "SCHEMA")

  static func evidence(_ sha256: Text) -> DynamoKey { DynamoKey("EVID#", sha256, "EVID") }

  /// Returns the key of a row that leads from a subscription or purchase to a text that it has
  /// named.
  func text(_ sha256: Text) -> DynamoKey {
    DynamoKey(partition, Text(DynamoKey.texts.utf8 + sha256.utf8))
  }

  /// The prefix of the sort keys of rows that lead to texts.
  static let texts: Text = "EVID#"

  // MARK: customers

  /// Returns the key of an account at the key of an id of Apple's.
  static func customer(_ id: Text, _ account: Text) -> DynamoKey {
    DynamoKey("CUSTOMER#", id, DynamoKey.account(account))
  }

  /// Returns the partition of the accounts at the key of an id of Apple's.
  static func customers(_ id: Text) -> Text { Text("CUSTOMER#".utf8 + id.utf8) }

  static func download(_ id: Text) -> DynamoKey { DynamoKey("DOWNLOAD#", id, "DOWNLOAD") }

  /// Returns the key of a restriction, in the partition of the account's subscriptions, so that one
  /// query reads both.
  static func restriction(_ account: Text, _ source: Text) -> DynamoKey {
    DynamoKey("USER#", account, Text(restrictions.utf8 + source.utf8))
  }

  /// The prefix of the sort keys of an account's restrictions; it sorts before
  /// `subscriptionsOfAccount`.
  static let restrictions: Text = "RESTRICTION#"

  // MARK: indexes

  /// Returns the partition of an account: of its copies and days, and in the index `assay-owner`.
  static func account(_ account: Text) -> Text { Text("USER#".utf8 + account.utf8) }

  /// Returns the sort key of a row in `assay-owner`: a kind as `L#` or `K#`, and a time by which an
  /// account's rows are sorted.
  ///
  /// - Parameter milliseconds: The time, in milliseconds since 1970 UTC.
  static func ordered(_ kind: StaticString, _ milliseconds: Int64) -> Text {
    let digits = Array(String(min(max(0, milliseconds), 9_999_999_999_999)).utf8)
    let zeros = [UInt8](repeating: 0x30, count: 13 &- digits.count)
    return Text(Text(stringLiteral: kind).utf8 + zeros + digits)
  }

  /// The number of partitions that contain the due rows of one kind.
  static let duePartitions: UInt8 = 8

  /// Returns a kind, as `CLAIM#` or `SUBSCRIPTION#`, and the number of a partition.
  static func due(_ kind: StaticString, _ number: UInt8) -> Text {
    Text(Text(stringLiteral: kind).utf8 + [0x30 &+ number % duePartitions])
  }

  /// Returns the partition of downloads of an app that contains those of a number.
  static func due(downloadsIn environment: Text, of bundleId: Text, _ number: UInt8) -> Text {
    let app = environment.utf8 + [0x2f] + bundleId.utf8
    return Text("DOWNLOAD#".utf8 + app + [0x23, 0x30 &+ number % duePartitions])
  }

  /// The number of the partition that contains this row among the due rows of its kind.
  var dueNumber: UInt8 { Digest.sha256.of(partition.utf8).first ?? 0 }

  /// Returns the partition of this row among the due rows of a kind.
  func due(_ kind: StaticString) -> Text {
    DynamoKey.due(kind, dueNumber)
  }

  // MARK: JSON

  /// Writes the members `PK` and `SK`.
  func writeMembers(_ writer: inout JSONWriter) {
    for (name, text) in [("PK" as StaticString, partition), ("SK", sort)] {
      writer.name(name)
      writer.beginObject()
      writer.member("S", text)
      writer.endObject()
    }
  }
}
