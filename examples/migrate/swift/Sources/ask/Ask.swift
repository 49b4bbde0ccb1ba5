import AssaySwift
import Foundation

/// The questions at once, and the most texts of a row.
private let (atOnce, textsMax) = (8, 32)
private let longestWaitMs: Int64 = 3_600_000
private let environments = ["Production", "Sandbox"]

/// A line of ask.ndjson.
private struct Line: Decodable {
  let environment, operation: String
  let account, originalTransactionId, transactionId: String?
}

/// A row of answers.ndjson.
private struct Row: Encodable {
  let account: String?
  let environment, originalTransactionId: String
  let evidences: [String]
}

/// The open step of an exchange: a request, or a wait.
private struct Step: Decodable {
  let http: HTTPStep?
  let notBeforeMs: Int64?
}

/// The part of Apple's answers that is signed.
private struct Page: Decodable {
  struct Group: Decodable { let lastTransactions: [Last] }
  struct Last: Decodable { let signedTransactionInfo, signedRenewalInfo: String? }
  let signedTransactions: [String]?
  let data: [Group]?

  var texts: [String] {
    let last = (data ?? []).flatMap(\.lastTransactions)
    return (signedTransactions ?? [])
      + last.flatMap { [$0.signedTransactionInfo, $0.signedRenewalInfo].compactMap(\.self) }
  }
}

/// What a signed text says of a purchase.
private struct Payload: Decodable {
  let originalTransactionId: String
  let transactionId: String?

  static func of(_ text: String) throws -> Payload {
    var middle = String(text.split(separator: ".")[1])
      .replacing("-", with: "+").replacing("_", with: "/")
    middle += String(repeating: "=", count: (4 - middle.count % 4) % 4)
    return try JSONDecoder().decode(Payload.self, from: Data(base64Encoded: middle) ?? Data())
  }
}

/// The questions of one migration. Any number of tasks may ask.
private struct Questions {
  let ledger: Ledger
  let send: @Sendable (HTTPStep) async -> HTTPReply

  /// Returns the lines that a line is answered by: of answers.ndjson, and of
  /// unknown-to-apple.ndjson.
  ///
  /// - Throws: an `AssayError` if Apple is away, or refuses the key.
  func ask(_ text: Data) async throws -> [[Data]] {
    func unknown(_ status: Status) -> [[Data]] {
      [[], [text.dropLast() + Data(",\"status\":\"\(status)\"}".utf8)]]
    }
    let line = try JSONDecoder().decode(Line.self, from: text)
    guard environments.contains(line.environment) else {
      return unknown(.unsupportedAppStoreEnvironment)
    }
    try await permit(line)
    let id = line.originalTransactionId ?? line.transactionId ?? ""
    var request = [
      ("operation", JSON(line.operation)), ("environment", JSON(line.environment)),
      ("transactionId", JSON(id)),
    ]
    if line.operation == "get-transaction-history" { request.append(("options", ["pages": 100])) }
    let exchange = try ledger.verifier.exchange(JSON(request))
    let bodies = try await run(exchange)
    do {
      _ = try AppStoreResponse(exchange)
    } catch {
      switch (error.family, error.status) {
      case (.unavailable, _), (.pending, _), (.config, _), (_, .rejectedAppStoreUnauthorized):
        throw error
      default: return unknown(error.status)
      }
    }
    let rows = try rows(line, id, bodies)
    return rows.isEmpty ? unknown(exchange.document.status) : [rows, []]
  }

  /// Waits for a permit of the ledger.
  private func permit(_ line: Line) async throws {
    while true {
      do {
        _ = try await ledger.acquireRatePermit(
          appStoreOperation: line.operation, environment: line.environment)
        return
      } catch let refusal as AssayError
        where refusal.status == .unavailableAppStoreLocalRateLimit
      {}
    }
  }

  /// Runs an exchange to its end, or to a wait that is too long, and returns the bodies of Apple's answers.
  private func run(_ exchange: Exchange) async throws -> [Data] {
    var bodies: [Data] = []
    while !exchange.isDone, let raw = exchange.raw {
      let step = try JSONDecoder().decode(Step.self, from: Data(raw.utf8))
      guard let http = step.http else {
        let left = (step.notBeforeMs ?? 0) - Timestamp.now.milliseconds
        if left > longestWaitMs { break }
        try await Task.sleep(for: .milliseconds(max(left, 0)))
        try exchange.step([:])
        continue
      }
      let reply = await send(http)
      if reply.status == 200 { bodies.append(Data(reply.body.text.utf8)) }
      try exchange.step(
        JSON(text: String(decoding: try JSONEncoder().encode(reply), as: UTF8.self)))
    }
    return bodies
  }

  /// Returns the rows of an answer. Every text was verified. An answer has the customer's other
  /// purchases, too, and the line says nothing about whose those are.
  private func rows(_ line: Line, _ id: String, _ bodies: [Data]) throws -> [Data] {
    var (texts, of): ([(String, Payload)], Set<String>) = ([], [])
    var seen: Set<String> = []
    for body in bodies {
      for text in try JSONDecoder().decode(Page.self, from: body).texts
      where seen.insert(text).inserted {
        let payload = try Payload.of(text)
        texts.append((text, payload))
        if [payload.originalTransactionId, payload.transactionId].contains(id) {
          of.insert(payload.originalTransactionId)
        }
      }
    }
    let wanted = texts.filter { of.contains($1.originalTransactionId) }.map(\.0)
    return try stride(from: 0, to: wanted.count, by: textsMax).map { at in
      try JSONEncoder().encode(
        Row(
          account: line.account, environment: line.environment,
          originalTransactionId: of.first ?? id,
          evidences: Array(wanted[at...].prefix(textsMax))))
    }
  }
}

/// The two files, and the place that they have reached: questions, and the bytes of each.
private struct Outcome {
  private let done: URL
  private let files: [FileHandle]
  private var place: [UInt64]
  var asked: Int { Int(place[0]) }

  init(_ folder: URL) throws {
    done = folder.appending(path: "asked.json")
    place =
      FileManager.default.fileExists(atPath: done.path)
      ? try JSONDecoder().decode([UInt64].self, from: Data(contentsOf: done)) : [0, 0, 0]
    files = try ["answers.ndjson", "unknown-to-apple.ndjson"].map { name in
      let file = folder.appending(path: name)
      if !FileManager.default.fileExists(atPath: file.path) {
        _ = FileManager.default.createFile(
          atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
      }
      return try FileHandle(forUpdating: file)
    }
    for (file, size) in zip(files, place.dropFirst()) { try file.truncate(atOffset: size) }
  }

  /// Writes the answers to some questions, then notes the place, by a rename: a kill before it
  /// repeats the questions since the last.
  mutating func write(_ answers: [[[Data]]]) throws {
    for (at, file) in files.enumerated() {
      for line in answers.flatMap({ $0[at] }) { try file.write(contentsOf: line + [10]) }
      try file.synchronize()
      place[at + 1] = try file.offset()
    }
    place[0] += UInt64(answers.count)
    try JSONEncoder().encode(place).write(to: done, options: .atomic)
  }
}

/// Asks Apple every line of ask.ndjson in a folder.
///
/// - Returns: how many have been asked.
func ask(
  _ folder: URL, _ ledger: Ledger, _ send: @escaping @Sendable (HTTPStep) async -> HTTPReply,
  chunk: Int = 64
) async throws -> Int {
  let questions = Questions(ledger: ledger, send: send)
  var outcome = try Outcome(folder)
  let list = try Data(contentsOf: folder.appending(path: "ask.ndjson"), options: .alwaysMapped)
  var lines = sequence(state: list) { rest -> Data? in
    guard let end = rest.firstIndex(of: 10) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }.dropFirst(outcome.asked).makeIterator()
  while true {
    let some = Array(
      sequence(state: chunk) { left in
        left -= 1
        return left < 0 ? nil : lines.next()
      })
    guard !some.isEmpty else { return outcome.asked }
    let answers = try await withThrowingTaskGroup(of: (Int, [[Data]]).self) { group in
      var answers: [Int: [[Data]]] = [:]
      for (at, line) in some.enumerated() {
        if at >= atOnce, let (of, answer) = try await group.next() { answers[of] = answer }
        group.addTask { (at, try await questions.ask(line)) }
      }
      for try await (of, answer) in group { answers[of] = answer }
      return some.indices.compactMap { answers[$0] }
    }
    try outcome.write(answers)
  }
}
