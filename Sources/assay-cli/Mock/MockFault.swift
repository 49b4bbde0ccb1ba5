import AssayAuthority

/// The defects of one response: the members of `fault` in a rule of the script
/// (docs/spec/mock-apple.md §3). Several may be given together.
struct MockFault: Sendable {
  var status: Int?
  /// The replacement of the body; `nil` for the response's own body.
  var body: [UInt8]?
  var headers: [(name: String, value: String)] = []
  var appleStatus: Int64?
  var isRetryable: Bool?
  var errorCode: Int64?
  var retryAfter: String?
  var slowMs = 0
  var dripMs = 0
  /// As `dripMs`, but from the first byte of the head on.
  var dripHeadMs = 0
  var cut: Int?
  var isReset = false
  var isRefused = false
  /// The content type; `.some(nil)` for none, `nil` for the response's own.
  var contentType: String??
  var oversize: Int?
  var redirect: String?
  var gzip: Encoding?
  var chunks: Int?
  var hasMark = false
  var isUTF16 = false
  var duplicate: String?
  var trailing: [UInt8]?
  var hopsAlways = false
  var isUnreleased = false
  var hasBadSignature = false
  var isOtherApp = false
  var isOtherEnvironment = false
  var ocsp: OCSP?
  var keys: KeyChange?

  enum Encoding: Sendable { case plain, bomb }

  enum OCSP: String, Sendable { case good, revoked, unknown, stale, wrongSigner }

  enum KeyChange: String, Sendable { case rotate, remove }

  init() {}

  /// Reads the members of a fault.
  ///
  /// - Throws: a problem that names the member.
  init(_ json: JSONTree, at place: String) throws {
    guard case .object(let members) = json, !members.isEmpty else {
      throw Problem("\(place): give an object with a fault, like {\"status\":503}")
    }
    for member in members {
      let value = MockValue(member.value, "\(place).\(member.name)")
      if try takeAnswer(member.name, value) || takeWire(member.name, value)
        || takeContent(member.name, value)
      {
        continue
      }
      throw Problem("\(place).\(Terminal.safe(member.name)): there is no such fault")
    }
  }

  /// Reads a member that replaces the response. Returns whether the name is one.
  private mutating func takeAnswer(_ name: String, _ value: MockValue) throws -> Bool {
    switch name {
    case "status": status = Int(try value.integer(in: 100...599))
    case "body": body = value.octets
    case "headers": headers = try value.pairs()
    case "appleStatus": appleStatus = try value.integer(in: 0...99_999)
    case "retryable": isRetryable = try value.boolean()
    case "errorCode": errorCode = try value.integer(in: 1_000_000...5_999_999)
    case "retryAfter": retryAfter = try value.word()
    case "redirect": redirect = try value.text()
    case "hop": hopsAlways = try value.choice(["always"]) == "always"
    case "unreleased": isUnreleased = try value.boolean()
    case "badSignature": hasBadSignature = try value.boolean()
    case "otherApp": isOtherApp = try value.boolean()
    case "otherEnvironment": isOtherEnvironment = try value.boolean()
    case "ocsp":
      ocsp = OCSP(
        rawValue: try value.choice(["good", "revoked", "unknown", "stale", "wrongSigner"]))
    case "keys": keys = KeyChange(rawValue: try value.choice(["rotate", "remove"]))
    default: return false
    }
    return true
  }

  /// Reads a member that delivers the response badly. Returns whether the name is one.
  private mutating func takeWire(_ name: String, _ value: MockValue) throws -> Bool {
    switch name {
    case "slowMs": slowMs = Int(try value.integer(in: 0...600_000))
    case "dripMs": dripMs = Int(try value.integer(in: 0...60_000))
    case "dripHeadMs": dripHeadMs = Int(try value.integer(in: 0...60_000))
    case "cut": cut = Int(try value.integer(in: 0...(1 << 30)))
    case "reset": isReset = try value.boolean()
    case "refuse": isRefused = try value.boolean()
    case "chunks": chunks = Int(try value.integer(in: 1...(1 << 20)))
    case "gzip": gzip = value.isText ? try value.bomb() : try value.boolean() ? .plain : nil
    default: return false
    }
    return true
  }

  /// Reads a member that damages the response's content. Returns whether the name is one.
  private mutating func takeContent(_ name: String, _ value: MockValue) throws -> Bool {
    switch name {
    case "contentType": contentType = .some(value.isNull ? nil : try value.text())
    case "oversize": oversize = Int(try value.integer(in: 2...(256 << 20)))
    case "bom": hasMark = try value.boolean()
    case "utf16": isUTF16 = try value.boolean()
    case "duplicate": duplicate = try value.text()
    case "trailing": trailing = value.octets
    default: return false
    }
    return true
  }

  /// Returns the response with this fault.
  ///
  /// - Parameter isStore: a 429 of the App Store Server API has its own body.
  func changed(_ answer: HTTPResponse, isStore: Bool) -> HTTPResponse {
    var answer = replaced(answer, isStore: isStore)
    if let duplicate { answer.body = MockFault.doubled(duplicate, answer.body) }
    if let trailing { answer.body += trailing }
    if let oversize { answer.body = MockFault.oversized(oversize) }
    if hasMark { answer.body = [0xef, 0xbb, 0xbf] + answer.body }
    if isUTF16 { answer.body = MockFault.utf16(answer.body) }
    if let contentType { answer.contentType = contentType }
    answer.headers += headers
    switch gzip {
    case .plain?:
      answer.body = Gzip.stored(answer.body)
      answer.headers.append(("Content-Encoding", "gzip"))
    case .bomb?:
      answer.body = Gzip.bomb()
      answer.headers.append(("Content-Encoding", "gzip"))
    case nil: break
    }
    return answer
  }

  private func replaced(_ answer: HTTPResponse, isStore: Bool) -> HTTPResponse {
    var answer = answer
    if let errorCode {
      answer = .store(errorCode, StoreError.message(errorCode))
    } else if let retryAfter {
      answer = isStore ? .store(4_290_000, StoreError.message(4_290_000)) : .text("", status: 429)
      answer.headers.append(("Retry-After", retryAfter))
    } else if let redirect {
      answer = .empty(status ?? 302)
      answer.headers.append(("Location", redirect))
    }
    if let status {
      if errorCode == nil, retryAfter == nil, redirect == nil { answer = .empty(status) }
      answer.status = status
    }
    if let body {
      answer.body = body
      answer.contentType = answer.contentType ?? "text/plain"
    }
    return answer
  }

  /// Returns the body with a member repeated with the same value, or a new one twice.
  private static func doubled(_ name: String, _ body: [UInt8]) -> [UInt8] {
    guard let tree = JSONTree(body), body.last == 0x7d else { return body }
    let value = tree[name]?.written ?? .null
    let member: JSONText = .object([JSONText.Member(name, value)])
    let second = Array(member.bytes.dropFirst().dropLast())
    let more = tree[name] == nil ? second + [0x2c] + second : second
    return Array(body.dropLast()) + (tree.members.isEmpty ? [] : [0x2c]) + more + [0x7d]
  }

  private static func oversized(_ count: Int) -> [UInt8] {
    let begin = Array("{\"status\":0,\"filler\":\"".utf8)
    let filler = max(0, count - begin.count - 2)
    return begin + [UInt8](repeating: 0x61, count: filler) + Array("\"}".utf8)
  }

  /// Returns the body in UTF-16, big-endian, with a byte order mark.
  private static func utf16(_ body: [UInt8]) -> [UInt8] {
    [0xfe, 0xff]
      + String(decoding: body, as: UTF8.self).utf16.flatMap {
        [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)]
      }
  }
}
