/// One conversation of the App Store Server API: a row of endpoints.tsv (EXC-25).
final class AppStoreEndpoint: Sendable {
  let name: StaticString
  let method: StaticString
  /// Below the host; `{name}` is a member of the request.
  let path: StaticString
  /// In the order in which they are sent.
  let members: [AppStoreMember]
  /// What a good answer must have; nil: nothing of it is read.
  let answer: [StaticString]?
  /// The member of request and answer that leads to the next page (API-40).
  let paging: StaticString?
  let rule: AppStoreRule

  init(
    _ name: StaticString, _ method: StaticString, _ path: StaticString,
    members: [AppStoreMember], answer: [StaticString]?, paging: StaticString? = nil,
    rule: AppStoreRule = .none
  ) {
    self.name = name
    self.method = method
    self.path = path
    self.members = members
    self.answer = answer
    self.paging = paging
    self.rule = rule
  }

  /// API-53: another request does no harm.
  var isRepeatable: Bool { rule != .once }

  /// API-55: P pages of A attempts, with a wait before each but the first, a second token
  /// and a hop.
  static func steps(pages: Int64, attempts: Int64) -> Int {
    Int(pages &* (2 &* attempts &- 1) &+ 2)
  }

  /// nil: a kind of something else.
  static func of(_ kind: ExchangeKind) -> AppStoreEndpoint? {
    let name = kind.name
    return AppStoreEndpointTable.rows.first { $0.name.hasSameBytes(as: name) }
  }
}
