/// One conversation of the App Store Server API: a row of endpoints.tsv (EXC-25). A class,
/// as the kind of every exchange refers to one.
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
  /// How many transactions (EXC-2).
  let evidence: ClosedRange<Int>

  init(
    _ name: StaticString, _ method: StaticString, _ path: StaticString,
    members: [AppStoreMember], answer: [StaticString]?, paging: StaticString? = nil,
    rule: AppStoreRule = .none, evidence: ClosedRange<Int> = 0...0
  ) {
    self.name = name
    self.method = method
    self.path = path
    self.members = members
    self.answer = answer
    self.paging = paging
    self.rule = rule
    self.evidence = evidence
  }

  /// API-53: another request does no harm.
  var isRepeatable: Bool { rule != .once }

  /// API-55: P pages of A attempts, with a wait before each but the first, a second token
  /// and a hop.
  static func steps(pages: Int64, attempts: Int64) -> Int {
    Int(pages &* (2 &* attempts &- 1) &+ 2)
  }

  /// Its row of the table of kinds, for as many pages and attempts as a request may ask for.
  var row: ExchangeRow {
    let most = AppStoreEndpoint.steps(
      pages: paging == nil ? 1 : AppStoreOptions.pages.upperBound,
      attempts: AppStoreOptions.attempts.upperBound)
    return ExchangeRow(
      name, ["environment", "bundleId", "options"] + members.map { $0.name }, evidence: evidence,
      maxSteps: isRepeatable ? most : 4, isRepeatable: isRepeatable,
      hints: .exchange)
  }

  static func named(_ name: Text) -> AppStoreEndpoint? {
    AppStoreEndpointTable.rows.first { name.utf8[...].elementsEqual($0.name) }
  }
}
