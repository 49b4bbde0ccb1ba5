/// One endpoint of the App Store Server API: a row of endpoints.tsv (EXC-25).
final class AppStoreEndpoint: Sendable {
  /// Whose host names are called.
  enum Site: Sendable {
    case storeKit
    /// The older names, under which Apple documents Advanced Commerce (ACA-7).
    case itunes
  }

  let name: StaticString
  let method: StaticString
  /// The path below the host; `{name}` is replaced by a member of the request.
  let path: StaticString
  /// The members of a request, in the order in which they are sent.
  let members: [AppStoreMember]
  /// The members that a successful response must have; `nil` if its body is not read.
  let answer: [StaticString]?
  /// The member of request and response that selects the next page (API-40).
  let paging: StaticString?
  let rule: AppStoreRule
  let site: Site

  init(
    _ name: StaticString, _ method: StaticString, _ path: StaticString,
    members: [AppStoreMember], answer: [StaticString]?, paging: StaticString? = nil,
    rule: AppStoreRule = .none, site: Site = .storeKit
  ) {
    self.name = name
    self.method = method
    self.path = path
    self.members = members
    self.answer = answer
    self.paging = paging
    self.rule = rule
    self.site = site
  }

  /// Whether a second request does no harm (API-53).
  var isRepeatable: Bool { rule != .once && rule != .performanceTest }

  /// Returns the most steps (API-55): for each page its attempts with a wait before each but the
  /// first, one second token and one change of environment.
  static func steps(pages: Int64, attempts: Int64) -> Int {
    Int(pages &* (2 &* attempts &- 1) &+ 2)
  }

  /// Finds the endpoint of an operation; `nil` if the operation is not an App Store Server API
  /// call.
  static func of(_ kind: Operation) -> AppStoreEndpoint? {
    let name = kind.name
    return AppStoreEndpointTable.rows.first { $0.name.hasSameBytes(as: name) }
  }
}
