@_spi(AssaySwift) import Assay

/// A JSON object from which facts are made. A member that is absent, null or of another type than
/// declared reads as `nil`.
struct Members {
  /// The object; `nil` for an object without members.
  private let found: DocumentValue?
  let document: Document
  /// The whole document, for members that are not among the facts.
  let root: DocumentValue
  /// Whether Apple signed the object; otherwise the library wrote it.
  let isSigned: Bool

  /// Returns the facts of a document at this path of members.
  static func of(_ document: Document, _ path: StaticString...) throws(AssayError) -> Members {
    guard let root = document.value else { throw AssayError.unreadable(document) }
    var found = root
    for name in path {
      guard let next = found.member(name) else { throw AssayError.unreadable(document) }
      found = next
    }
    return Members(found: found, document: document, root: root, isSigned: false)
  }

  /// The object as the source of `raw`.
  var value: DocumentValue { found ?? root }

  /// The members of the signed JSON; none if the evidence is not signed as JSON.
  var signed: Members { inside(found?.member("payload"), isSigned: true) }

  var beside: Members { inside(root, isSigned: false) }

  var isAccepted: Bool { document.status == .ok }

  private func inside(_ found: DocumentValue?, isSigned: Bool) -> Members {
    Members(found: found, document: document, root: root, isSigned: isSigned)
  }

  /// Returns a member that the library always writes; its absence is a bug.
  func needed<Value>(_ found: Value?, _ name: StaticString) throws(AssayError) -> Value {
    guard let found else { throw AssayError.unreadable(document, at: "\(name)") }
    return found
  }

  func text(_ name: StaticString) -> String? { found?.member(name)?.text }

  func boolean(_ name: StaticString) -> Bool? { found?.member(name)?.boolean }

  func json(_ name: StaticString) -> String? { found?.member(name)?.json }

  func octets(_ name: StaticString) -> [UInt8]? { found?.member(name)?.octets }

  func name<Value: Name>(_ name: StaticString) -> Value? {
    text(name).map(Value.init(rawValue:))
  }

  func integer(_ name: StaticString) -> Int64? {
    guard let inner = found?.member(name) else { return nil }
    return isSigned ? inner.signedInteger : inner.integer
  }

  func time(_ name: StaticString) -> Timestamp? {
    guard let inner = found?.member(name) else { return nil }
    let milliseconds = isSigned ? inner.signedTime : inner.integer
    return milliseconds.map(Timestamp.init(milliseconds:))
  }

  func duration(_ name: StaticString) -> Duration? { integer(name).map(Duration.milliseconds) }

  func list(_ name: StaticString) -> [String] { elements(name).compactMap(\.text) }

  func names<Value: Name>(_ name: StaticString) -> [Value] {
    list(name).map(Value.init(rawValue:))
  }

  func integers(_ name: StaticString) -> [Int64] { elements(name).compactMap(\.integer) }

  func texts(_ name: StaticString) -> [String: String] {
    guard let inner = found?.member(name), inner.isObject else { return [:] }
    var texts: [String: String] = [:]
    for (name, value) in inner.children { texts[name] = value.text }
    return texts
  }

  func object<Value: FactsObject>(_ name: StaticString) throws(AssayError) -> Value? {
    guard let inner = found?.member(name), inner.isObject else { return nil }
    return try Value(inside(inner, isSigned: isSigned))
  }

  func objects<Value: FactsObject>(_ name: StaticString) throws(AssayError) -> [Value] {
    var made: [Value] = []
    for each in elements(name) where each.isObject {
      made.append(try Value(inside(each, isSigned: isSigned)))
    }
    return made
  }

  private func elements(_ name: StaticString) -> [DocumentValue] {
    guard let inner = found?.member(name), inner.isArray else { return [] }
    return inner.children.map(\.value)
  }
}

/// A type that is made of one JSON object.
protocol FactsObject {
  init(_ members: Members) throws(AssayError)
}
