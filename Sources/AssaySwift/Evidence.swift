@_spi(AssaySwift) import Assay

@_exported import class Assay.Document
@_exported import struct Assay.Status

/// A value as Apple, or the library, writes it. One that this version does not know is
/// kept as it is: handle those you know, and take everything else as unknown.
///
///     switch transaction.type {
///     case .consumable?: …
///     default: …
///     }
public protocol Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible, Codable
where RawValue == String, StringLiteralType == String {
  init(rawValue: String)
}

extension Name {
  public init(stringLiteral value: String) { self.init(rawValue: value) }
  /// As it is written: "DID_RENEW".
  public var description: String { rawValue }
}

/// What a document says, in types. Only a verifier makes facts.
///
/// What Apple may leave out is optional; what the library itself always writes is not.
/// Lists are empty where they are absent.
public protocol Facts: Sendable, CustomStringConvertible {
  /// The whole answer: status, checks, warnings, JSON. It is the proof of the facts.
  var document: Document { get }
  /// The facts as the library wrote them, JSON, with members that this version does not
  /// know.
  var raw: String { get }
  /// The signed JSON, byte for byte, with members that this version does not know; nil
  /// for kinds of evidence that are not signed as JSON.
  var payload: String? { get }
}

/// Facts about purchases: what `Verifier.decide` takes.
public protocol PurchaseEvidence: Facts {}

/// Facts that know where in their document they are.
protocol FactsOfDocument: Facts, FactsObject {
  var source: DocumentValue { get }
}

extension Facts {
  private var written: DocumentValue? { (self as? any FactsOfDocument)?.source }

  /// The facts as the library wrote them, JSON, with members that this version does not
  /// know.
  public var raw: String { written?.json ?? "null" }

  /// The signed JSON, byte for byte, with members that this version does not know; nil
  /// for kinds of evidence that are not signed as JSON.
  public var payload: String? { written?.member("payload")?.json }

  /// What they are and how the call ended, "Transaction, ok": logs need no more, and
  /// everything else is about a customer.
  public var description: String { "\(Self.self), \(document.status)" }
}

extension Document {
  /// All checks of this kind of evidence, in the order of work.
  public var checks: [Check] { list("checks") }

  /// What did not lead to a refusal, but should be looked at.
  public var warnings: [Warning] { list("warnings") }

  /// The whole document.
  public var raw: String { String(decoding: json, as: UTF8.self) }

  private func list<Value: FactsObject>(_ name: StaticString) -> [Value] {
    guard let members = try? Members.of(self), let found: [Value] = try? members.objects(name)
    else { return [] }
    return found
  }
}

extension Status: CustomStringConvertible {
  /// "ok", "rejected.chain.untrusted-root".
  public var description: String { "\(name)" }
}
