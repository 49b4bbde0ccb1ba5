@_spi(AssaySwift) import Assay
import AssaySwift
import Testing

/// Compares facts with the JSON from which they were made.
struct Comparison {
  let name: String

  /// The names in Swift that differ from those in the JSON, beside moments and durations.
  private static let renamed = ["SKU": "sku", "dependentSKUs": "dependentSkus", "ms": "time"]

  /// Checks that every member of the object has a property with its value, and that every other
  /// property is empty or in the signed JSON.
  func object(_ facts: Any, _ object: DocumentValue, without beside: Set<String> = []) {
    var properties: [String: Any] = [:]
    for child in Mirror(reflecting: facts).children {
      guard let label = child.label, !(child.value is Document), !(child.value is DocumentValue)
      else { continue }
      properties[label] = child.value
    }
    for (key, value) in object.children where key != "payload" && !beside.contains(key) {
      // The name of a `Timestamp` or a `Duration` has no unit.
      let moment = key.hasSuffix("Ms") ? String(key.dropLast(2)) : key
      let label =
        Comparison.renamed[key] ?? (properties[moment] == nil ? key : moment)
      guard let property = properties.removeValue(forKey: label) else {
        Issue.record("\(name): \(type(of: facts)) has no \(label)")
        continue
      }
      compare(property, value, "\(type(of: facts)).\(label)", isSigned: false)
    }
    // The ledger knows the challenge, but no document contains it.
    if facts is IssueChallengeResult { properties.removeValue(forKey: "challenge") }
    if facts is Triage { properties.removeValue(forKey: "unverified") }
    let payload = object.member("payload")
    for (label, property) in properties {
      if let value = payload?.children.first(where: { $0.name == label })?.value {
        compare(property, value, "\(type(of: facts)).payload.\(label)", isSigned: true)
      } else {
        #expect(isEmpty(property), "\(name): \(type(of: facts)).\(label) without a member")
      }
    }
  }

  private func compare(_ property: Any, _ value: DocumentValue, _ at: String, isSigned: Bool) {
    guard value.json != "null" else {
      #expect(isEmpty(property), "\(name): \(at) is not null")
      return
    }
    let mirror = Mirror(reflecting: property)
    guard mirror.displayStyle == .optional else {
      present(property, value, at, isSigned: isSigned)
      return
    }
    if let inner = mirror.children.first?.value {
      present(inner, value, at, isSigned: isSigned)
    } else {
      #expect(!fits(property, value, isSigned), "\(name): \(at) is nil, not \(value.json)")
    }
  }

  /// Whether a value that reads as nil is of the type of the property.
  private func fits(_ property: Any, _ value: DocumentValue, _ isSigned: Bool) -> Bool {
    switch property {
    // A challenge that was not searched for is a text instead of an object.
    case is Challenge?: value.isObject
    case is String?, is any Name: value.text != nil
    case is Int64?: isSigned ? value.signedInteger != nil : value.integer != nil
    case is Timestamp?: isSigned ? value.signedTime != nil : value.integer != nil
    case is Bool?: value.boolean != nil
    default: value.isObject || value.text != nil
    }
  }

  private func present(_ property: Any, _ value: DocumentValue, _ at: String, isSigned: Bool) {
    let shown = "\(name): \(at) is \(property), not \(value.json)"
    switch property {
    case let text as String: #expect(text == (value.isObject ? value.json : value.text), "\(shown)")
    case let name as any Name: #expect(name.rawValue == value.text, "\(shown)")
    case let number as Int64:
      #expect(number == (isSigned ? value.signedInteger : value.integer), "\(shown)")
    case let time as Timestamp:
      #expect(
        time.milliseconds == (isSigned ? value.signedTime : value.integer), "\(shown)")
    case let duration as Duration:
      #expect(duration == .milliseconds(value.integer ?? -1), "\(shown)")
    case let flag as Bool: #expect(flag == value.boolean, "\(shown)")
    // An empty list of any type would pass for one of bytes.
    case let octets as [UInt8] where type(of: property) == [UInt8].self:
      #expect(octets == value.octets, "\(shown)")
    case let texts as [String: String]:
      #expect(texts.count == value.children.count, "\(shown)")
      for (key, inner) in value.children { #expect(texts[key] == inner.text, "\(shown)") }
    case let list as [Any]:
      let values = value.children.map(\.value)
      guard list.count == values.count else {
        Issue.record("\(shown)")
        return
      }
      for (index, inner) in list.enumerated() {
        present(inner, values[index], "\(at)[\(index)]", isSigned: isSigned)
      }
    default:
      #expect(value.isObject, "\(shown)")
      if isSigned { signedObject(property, value, at) } else { object(property, value) }
    }
  }

  /// Compares only declared members, because Apple may add members to what it signs.
  private func signedObject(_ facts: Any, _ object: DocumentValue, _ at: String) {
    for child in Mirror(reflecting: facts).children {
      guard let label = child.label else { continue }
      let key = Comparison.renamed.first { $0.value == label }?.key ?? label
      if let found = object.children.first(where: { $0.name == key })?.value {
        compare(child.value, found, "\(at).\(label)", isSigned: true)
      } else {
        #expect(isEmpty(child.value), "\(name): \(at).\(label) without a member")
      }
    }
  }

  private func isEmpty(_ property: Any) -> Bool {
    if let list = property as? [Any] { return list.isEmpty }
    if let texts = property as? [String: String] { return texts.isEmpty }
    let mirror = Mirror(reflecting: property)
    return mirror.displayStyle == .optional && mirror.children.isEmpty
  }
}
