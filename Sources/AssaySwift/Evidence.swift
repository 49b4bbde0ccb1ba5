@_spi(AssaySwift) import Assay

@_exported import class Assay.Document
@_exported import struct Assay.Status

/// A value that Apple or the library writes as text. A value that is newer than this version is
/// kept unchanged: handle the known ones, and treat every other as unknown.
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
  /// The text as it is written: "DID_RENEW".
  public var description: String { rawValue }
}

/// The typed members of a document. Only a verifier creates facts.
///
/// Members that Apple may omit are optional; members that the library always writes are not. An
/// absent list is empty.
public protocol Facts: Sendable, CustomStringConvertible {
  /// The whole document: status, checks, warnings, JSON. The document proves the facts.
  var document: Document { get }
  /// The facts as the JSON that the library wrote, unknown members included.
  var raw: String { get }
  /// The signed JSON, byte for byte, unknown members included; `nil` for evidence that is not
  /// signed as JSON.
  var payload: String? { get }
}

/// Facts about purchases, which `Verifier.decide` accepts.
public protocol PurchaseEvidence: Facts {}

/// Facts with their location in the document.
protocol FactsOfDocument: Facts, FactsObject {
  var source: DocumentValue { get }
}

extension Facts {
  private var written: DocumentValue? { (self as? any FactsOfDocument)?.source }

  /// The facts as the JSON that the library wrote, unknown members included.
  public var raw: String { written?.json ?? "null" }

  /// The signed JSON, byte for byte, unknown members included; `nil` for evidence that is not
  /// signed as JSON.
  public var payload: String? { written?.member("payload")?.json }

  /// The type and the status, "Transaction, ok". A log needs no more, and the facts are about a
  /// customer.
  public var description: String { "\(Self.self), \(document.status)" }
}

extension Document {
  /// The checks of this kind of evidence, in the order in which they are made.
  public var checks: [Check] { list("checks") }

  /// The findings that did not lead to a refusal but need attention.
  public var warnings: [Warning] { list("warnings") }

  /// The whole document as JSON.
  public var raw: String { String(decoding: json, as: UTF8.self) }

  private func list<Value: FactsObject>(_ name: StaticString) -> [Value] {
    guard let members = try? Members.of(self), let found: [Value] = try? members.objects(name)
    else { return [] }
    return found
  }
}

extension Status: CustomStringConvertible {
  /// The name of the status: "ok", "rejected.chain.untrusted-root".
  public var description: String { "\(name)" }
}
