/// One known member of an object of an answer.
struct ResponseMember: Sendable {
  /// As Apple writes it.
  let apple: StaticString
  /// As the document names it; nil: not on its own.
  let name: StaticString?
  let hash: UInt32
  let shape: ResponseShape
  /// Written in documents of the iOS 6 style alone.
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

  /// Read with another member, or not at all.
  init(_ apple: StaticString) { self.init(apple, nil, .companion) }
}
