/// A rule of the script: the requests that it matches, and their fault.
struct MockRule: Sendable {
  let host: String?
  /// The prefix of the path; `nil` for every path.
  let path: String?
  /// The numbers of the matching requests that get the fault, from 1; `nil` for all of them.
  let counts: Set<Int64>?
  let fault: MockFault
  private var seen: Int64 = 0

  init(_ json: JSONTree, at place: String) throws {
    guard case .object(let members) = json else { throw Problem("\(place) is not an object") }
    for member in members where !["host", "path", "nth", "fault"].contains(member.name) {
      throw Problem("\(place).\(Terminal.safe(member.name)): a rule has host, path, nth, fault")
    }
    host = try json["host"].map { try MockValue($0, place + ".host").text().lowercased() }
    path = try json["path"].map { try MockValue($0, place + ".path").text() }
    counts = try MockRule.counts(json["nth"], place + ".nth")
    guard let fault = json["fault"] else { throw Problem("\(place).fault is missing") }
    self.fault = try MockFault(fault, at: place + ".fault")
  }

  private static func counts(_ json: JSONTree?, _ place: String) throws -> Set<Int64>? {
    guard let json, json.text != "every" else { return nil }
    let list = json.shown == nil ? json.elements : [json]
    guard !list.isEmpty else { throw Problem("\(place): give a number, a list, or \"every\"") }
    return Set(try list.map { try MockValue($0, place).integer(in: 1...1_000_000) })
  }

  /// Counts a request that matches. Returns whether it gets the fault.
  mutating func takes(_ request: HTTPRequest) -> Bool {
    if let host, host != request.host { return false }
    if let path, !request.path.hasPrefix(path) { return false }
    seen += 1
    return counts?.contains(seen) ?? true
  }
}
