/// Unusual properties of unverified evidence (docs/spec/receipts-triage.md §1.4). A trait is a
/// suspicion, never a verdict: only verification refuses (TRI-9).
struct TriageTraits: Sendable, Equatable {
  /// Traits without a key.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt16

    /// Dates that were signed together contradict each other (RCP-15).
    static let dateMismatch = Flags(rawValue: 1 << 0)
    /// The purchase info is not in Apple's own layout.
    static let infoCompact = Flags(rawValue: 1 << 1)
    /// The signature blob has neither version 2 nor 3 (RCP-17).
    static let blobVersion = Flags(rawValue: 1 << 2)
    /// The lengths inside the signature blob do not agree (RCP-17).
    static let blobLayout = Flags(rawValue: 1 << 3)
    /// The signature is printable text.
    static let placeholder = Flags(rawValue: 1 << 4)
    /// The purchase info contains a signature of its own.
    static let nested = Flags(rawValue: 1 << 5)
    /// `pod` is not the prefix of the transaction id.
    static let pod = Flags(rawValue: 1 << 6)
    /// The transaction id implies no environment (RCP-27).
    static let idPrefix = Flags(rawValue: 1 << 7)
    /// The environment is not accepted (TRI-8).
    static let environment = Flags(rawValue: 1 << 8)

    fileprivate static let names: [(flag: Flags, name: StaticString)] = [
      (.dateMismatch, "date-mismatch"), (.infoCompact, "info-compact"),
      (.blobVersion, "blob-version"), (.blobLayout, "blob-layout"),
      (.placeholder, "placeholder"), (.nested, "nested"), (.pod, "pod"),
      (.idPrefix, "id-prefix"), (.environment, "environment"),
    ]
  }

  var flags: Flags = []
  /// `missing:<key>`: a required key is absent or empty.
  var missing = TriageKeys()
  /// `bare:<key>`: a value is not quoted, a number where text belongs.
  var bare = TriageKeys()
  /// `format:<key>`: a value breaks its format.
  var format = TriageKeys()

  var isEmpty: Bool {
    flags.isEmpty && missing.isEmpty && bare.isEmpty && format.isEmpty
  }

  /// Writes an array of names, which come from tables and never from the evidence.
  func write(_ writer: inout JSONWriter) {
    writer.beginArray()
    if !isEmpty {
      missing.write("missing:", &writer)
      bare.write("bare:", &writer)
      format.write("format:", &writer)
      for (flag, name) in Flags.names where flags.contains(flag) { writer.string(name) }
    }
    writer.endArray()
  }
}
