/// One known member of an object of a response.
struct ResponseMember: Sendable {
  /// Apple's name of the member.
  let apple: StaticString
  /// The document's name of the member; `nil` if it is not reported on its own.
  let name: StaticString?
  let hash: UInt32
  let shape: ResponseShape
  /// Whether the member is written only in documents of the iOS 6 style.
  let isFlat: Bool

  init(
    _ apple: StaticString, _ name: StaticString?, _ shape: ResponseShape, flat: Bool = false
  ) {
    self.apple = apple
    self.name = name
    hash = JSON.hash(apple)
    self.shape = shape
    isFlat = flat
  }

  /// Creates a member that is read together with another one, or never.
  init(_ apple: StaticString) { self.init(apple, nil, .companion) }
}
