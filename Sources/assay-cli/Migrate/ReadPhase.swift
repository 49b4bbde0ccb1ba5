import AssayAuthority
import CSystem
import Synchronization

@_spi(AssayMigrate) @_spi(AssaySwift) import Assay

/// The first phase: rows are parsed, their evidence is verified on all cores, and the facts are
/// written as sorted runs (MIG-31). An epoch ends with a checkpoint, from which a killed run goes on.
struct ReadPhase {
  let folder: WorkFolder
  let format: RowFormat
  let options: MigrateOptions
  let evidence: EvidenceReader

  /// The bytes of input after which a checkpoint is written.
  private static let epochBytes = 64 << 20

  /// Reads what is left of the input.
  func run(_ checkpoint: inout Checkpoint, _ progress: inout MigrateProgress) throws {
    guard !checkpoint.isDone else { return }
    folder.removeStrangers(keeping: checkpoint.files)
    let runs = RunSet(folder.path, checkpoint)
    let input = InputReader(
      folder.inputs.map(\.readPath), isQuoted: format.isTable, from: checkpoint.position)
    let workers = (0..<options.jobs).map { _ in
      ReadWorker(input: input, format: format, options: options, evidence: evidence, runs: runs)
    }
    while !input.isAtEnd {
      input.beginEpoch(ReadPhase.epochBytes)
      let next = Mutex(0)
      Threads.perform(options.jobs) {
        let place = next.withLock { place in
          defer { place += 1 }
          return place
        }
        if place < workers.count { workers[place].work() }
      }
      for worker in workers {
        if let fault = worker.fault { throw fault }
        checkpoint.tally.merge(worker.takeTally())
      }
      checkpoint.position = input.position
      checkpoint.take(runs)
      try folder.write(checkpoint)
      progress.show(
        "read", done: folder.bytes(before: checkpoint.position),
        rows: checkpoint.tally["rows", "read"], rejects: checkpoint.tally["rows", "rejected"])
      try MigrateCommand.checkStop()
      if let most = options.maxRejects, checkpoint.tally["rows", "rejected"] > most {
        throw MigrateFault(
          "rejected.migrate.rows", "more than \(most) rows were rejected (--max-rejects)",
          exitCode: 1)
      }
    }
    try countTexts(runs, &checkpoint.tally)
    try joinTokens(runs)
    checkpoint.take(runs)
    checkpoint.isDone = true
    try folder.write(checkpoint)
  }

  /// Counts each text of evidence once, however many rows have it.
  private func countTexts(_ runs: RunSet, _ tally: inout MigrateTally) throws {
    var merge = try runs.texts.merged()
    var last = ""
    while let record = try merge.next() {
      var cursor = RecordCursor(record)
      let digest = cursor.key()
      if digest == last { continue }
      last = digest
      let isVerified = cursor.byte() != 0
      tally.add("evidence", "distinct")
      tally.add("evidence", isVerified ? "verified" : "refused")
      tally.add(isVerified ? "evidenceKinds" : "evidenceStatuses", cursor.text())
    }
    runs.texts.remove()
  }

  /// Tells each group the accounts whose `accountToken` its evidence has.
  private func joinTokens(_ runs: RunSet) throws {
    var merge = try runs.tokens.merged()
    var facts = RunBuffer(runs.facts, byteCap: 1 << 20)
    var (token, accounts, lastGroup) = ("", [String](), "")
    while let record = try merge.next() {
      var cursor = RecordCursor(record)
      let next = cursor.key()
      if next != token { (token, accounts, lastGroup) = (next, [], "") }
      let isAccount = cursor.byte() == 0
      let text = cursor.text()
      if isAccount {
        if accounts.last != text, accounts.count < ReadPhase.accountCap { accounts.append(text) }
        continue
      }
      if text == lastGroup { continue }
      lastGroup = text
      for account in accounts {
        try facts.add(MigrateFact.tokenAccount(account, of: text))
      }
    }
    try facts.flush()
    runs.tokens.remove()
  }

  /// The most accounts of one token that are told: two are a fault of the shop already.
  private static let accountCap = 8

  /// Writes the reject file, in the order of the input.
  static func writeRejects(_ runs: RunSet, to path: String, _ report: MigrateReport) throws {
    var file = try OutputFile(path, mode: 0o600)
    var merge = try runs.rejects.merged()
    while let record = try merge.next() {
      var cursor = RecordCursor(record)
      _ = cursor.key()
      let (status, at, message, digest) = (
        cursor.text(), cursor.text(), cursor.text(), cursor.text()
      )
      let place = RowPlace(&cursor)
      let line = JSONText.object([
        .init("file", .string(report.name(place.file))), .init("line", .integer(Int64(place.line))),
        .init("byte", .integer(Int64(place.offset))), .init("status", .string(status)),
        .init("at", at.isEmpty ? .null : .string(at)), .init("message", .string(message)),
        .init("sha256", digest.isEmpty ? .null : .string(digest)),
      ])
      try file.write(line.bytes + [0x0a])
    }
    try file.end()
  }
}

/// The sorted runs of the four kinds of records.
final class RunSet: Sendable {
  /// Facts by the key of their group.
  let facts: SortedRuns
  /// Accounts and groups by the `appAccountToken` that they share.
  let tokens: SortedRuns
  /// Digests of evidence, to count each text once.
  let texts: SortedRuns
  /// Lines of the reject file by their place.
  let rejects: SortedRuns

  static let kinds = ["facts", "tokens", "texts", "rejects"]

  init(_ folder: String, _ checkpoint: Checkpoint) {
    func runs(_ kind: String) -> SortedRuns {
      SortedRuns(folder, kind, files: checkpoint.files.filter { $0.hasPrefix(kind + "-") })
    }
    facts = runs("facts")
    tokens = runs("tokens")
    texts = runs("texts")
    rejects = runs("rejects")
  }

  var files: [String] { facts.files + tokens.files + texts.files + rejects.files }
}

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
      while system_stopped() == 0, let packet = try input.next() {
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
    key.contains("\0") ? key.replacing("\0", with: "") : key
  }
}

/// A record of the runs `tokens`: an account, or a group, that an `appAccountToken` names.
enum TokenRecord {
  static func account(_ account: String, of token: String) -> [UInt8] {
    make(token, 0, account)
  }

  static func group(_ group: String, of token: String) -> [UInt8] { make(token, 1, group) }

  private static func make(_ token: String, _ kind: UInt8, _ text: String) -> [UInt8] {
    var record = RecordBytes(key: token)
    record.put(kind)
    record.put(text)
    return record.bytes
  }
}

/// A record of the runs `texts`: a text that was verified, or refused.
enum TextRecord {
  static func make(_ digest: [UInt8], kind: String) -> [UInt8] { make(digest, 1, kind) }

  static func make(_ digest: [UInt8], status: String) -> [UInt8] { make(digest, 0, status) }

  private static func make(_ digest: [UInt8], _ isVerified: UInt8, _ name: String) -> [UInt8] {
    var record = RecordBytes(key: ReadWorker.hex(digest))
    record.put(isVerified)
    record.put(name)
    return record.bytes
  }
}
