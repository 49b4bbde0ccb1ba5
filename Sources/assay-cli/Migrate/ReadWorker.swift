import AssayAuthority

@_spi(AssayMigrate) import Assay

/// One thread of the first phase. Used by one thread at a time.
final class ReadWorker: @unchecked Sendable {
  private let input: InputReader
  private let format: RowFormat
  private let options: MigrateOptions
  private let evidence: EvidenceReader
  private var facts, tokens, texts, rejects: RunBuffer
  private var tally = MigrateTally()
  private(set) var fault: (any Error)?

  init(
    input: InputReader, format: RowFormat, options: MigrateOptions, evidence: EvidenceReader,
    runs: RunSet
  ) {
    self.input = input
    self.format = format
    self.options = options
    self.evidence = evidence
    facts = RunBuffer(runs.facts, byteCap: 2 << 20)
    tokens = RunBuffer(runs.tokens, byteCap: 1 << 19)
    texts = RunBuffer(runs.texts, byteCap: 1 << 19)
    rejects = RunBuffer(runs.rejects, byteCap: 1 << 19)
  }

  /// Reads packets until the epoch ends.
  func work() {
    do {
      while !MigrateStop.isAsked, let packet = try input.next() {
        try input.records(of: packet) { try read($0, $1) }
        if packet.endsWithTooLong {
          tally.add("rows", "read")
          let place = RowPlace(
            file: packet.file, offset: packet.offset, byteCount: 0, line: packet.line)
          try reject(.tooLarge, at: place)
        }
      }
      try facts.flush()
      try tokens.flush()
      try texts.flush()
      try rejects.flush()
    } catch { fault = error }
  }

  func takeTally() -> MigrateTally {
    defer { tally = MigrateTally() }
    return tally
  }

  private func read(_ record: ArraySlice<UInt8>, _ place: RowPlace) throws {
    if format.isTable, place.line == 1 { return }
    tally.add("rows", "read")
    if record.count > InputReader.recordCap { return try reject(.tooLarge, at: place) }
    do {
      guard let found = try format.row(record, file: place.file) else {
        return tally.add("rows", "empty")
      }
      if let store = found.skipped {
        tally.addName("skippedStores", store)
        return tally.add("rows", "skipped")
      }
      for name in found.unknown { tally.addName("unknownMembers", name) }
      try take(found.row, place)
    } catch let fault as RowFault {
      try reject(fault, at: place)
    }
  }

  private func take(_ row: MigrateRow, _ place: RowPlace) throws {
    if let account = row.account, let token = row.accountToken {
      try tokens.add(TokenRecord.account(account, of: token))
    }
    var (verified, refused) = (0, 0)
    var hearsay: [MigrateRow.Hearsay] = []
    var index = 0
    for each in row.evidences {
      let found = evidence.texts(in: each)
      hearsay += found.hearsay
      for text in found.texts {
        let isVerified = try take(text, EvidencePlace(row: place, index: index), row)
        if isVerified { verified += 1 } else { refused += 1 }
        index += 1
      }
    }
    if verified == 0, row.hearsay.transactionId != nil || row.hearsay.originalTransactionId != nil {
      hearsay.append(row.hearsay)
    }
    for one in hearsay {
      let id = one.originalTransactionId ?? one.transactionId ?? ""
      let fact = HearsayFact(one, account: row.account ?? "", place)
      try facts.add(fact.record(ReadWorker.plain(one.environment + "/" + id)))
    }
    switch (verified, refused) {
    case (0, 0): tally.add("rows", "hearsay")
    case (0, _): tally.add("rows", "rejected")
    case (_, 0): tally.add("rows", "good")
    default: tally.add("rows", "partial")
    }
  }

  /// Takes one text of evidence. Returns whether it was verified.
  private func take(_ text: [UInt8], _ place: EvidencePlace, _ row: MigrateRow) throws -> Bool {
    let digest = AttestDigest.sha256(text)
    tally.add("evidence", "texts")
    switch evidence.verify(text) {
    case .refused(let status, let at, let message):
      try texts.add(TextRecord.make(digest, status: status))
      try reject(
        RowFault(name: status, at: at), message: message, digest: digest, at: place.row,
        index: place.index)
      return false
    case .verified(let document, let kind):
      try texts.add(TextRecord.make(digest, kind: kind))
      guard let stated = evidence.verifier.stated(in: document) else { return true }
      for purchase in stated.purchases { try take(purchase, place, row) }
      for renewal in stated.renewals {
        guard let group = renewal.key else { continue }
        let fact = RenewalFact(
          asOfMs: renewal.asOfMs, graceExpiresAtMs: renewal.graceExpiresAtMs,
          account: row.account ?? "", place)
        try facts.add(fact.record(group))
        if let token = renewal.accountToken {
          try tokens.add(TokenRecord.group(group, of: token))
        }
      }
      return true
    }
  }

  private func take(
    _ purchase: StatedPurchase, _ place: EvidencePlace, _ row: MigrateRow
  ) throws {
    tally.add("purchases", "seen")
    let isGranted = row.isGranted(boughtAtMs: purchase.purchasedAtMs) ?? options.assumesGranted
    let isOnce = options.isOnce(purchase.kind)
    if isOnce, isGranted == nil, row.account != nil {
      throw MigrateFault(
        "misuse.migrate.assume",
        "line \(place.row.line) of the input does not say whether the purchase was delivered: "
          + "give --assume granted, or --assume owed", exitCode: 2)
    }
    let fact = PurchaseFact(
      purchase, account: row.account ?? "", isGranted: isGranted ?? false,
      receivedAtMs: row.receivedAtMs, place)
    try facts.add(fact.record)
    if let token = purchase.accountToken {
      try tokens.add(TokenRecord.group(fact.group, of: token))
    }
  }

  private func reject(_ fault: RowFault, at place: RowPlace) throws {
    tally.add("rows", "rejected")
    let message =
      fault.name == RowFault.tooLarge.name
      ? "A row has at most 4 MiB." : "The row is not of the form of its format."
    try reject(fault, message: message, digest: nil, at: place, index: 0)
  }

  private func reject(
    _ fault: RowFault, message: String, digest: [UInt8]?, at place: RowPlace, index: Int
  ) throws {
    tally.add("files", "reject")
    var record = RecordBytes(
      key: [place.file, place.offset, index].map(ReadWorker.padded).joined(separator: "/"))
    for text in [fault.name, fault.at, message, digest.map(ReadWorker.hex) ?? ""] {
      record.put(text)
    }
    place.put(in: &record)
    try rejects.add(record.bytes)
  }

  /// Returns a number with as many digits as any other, so that texts sort as numbers do.
  private static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 19 - digits.count)) + digits
  }

  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// A key of a group from outside: without the byte that ends keys.
  private static func plain(_ key: String) -> String {
    key.contains("\0") ? key.filter { $0 != "\0" } : key
  }
}
