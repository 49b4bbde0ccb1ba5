/// One attribute of the payload of an app receipt, or of a purchase in it.
public struct AttributeTemplate: Sendable {
  /// The content bytes of the INTEGER `type`.
  public var typeOctets: [UInt8]
  /// The content bytes of the INTEGER `version`.
  public var versionOctets: [UInt8]
  /// The content of the OCTET STRING.
  public var value: [UInt8]
  /// The whole attribute, in place of its three members.
  public var whole: [UInt8]?

  public init(_ type: Int, version: UInt8 = 1, _ value: [UInt8]) {
    typeOctets = AttributeTemplate.octets(Int64(type))
    versionOctets = [version]
    self.value = value
  }

  public static func text(_ type: Int, _ text: String) -> AttributeTemplate {
    AttributeTemplate(type, DER.utf8(text))
  }

  public static func ascii(_ type: Int, _ text: String) -> AttributeTemplate {
    AttributeTemplate(type, DER.ia5(text))
  }

  public static func integer(_ type: Int, _ number: Int64) -> AttributeTemplate {
    AttributeTemplate(type, DER.integer(octets: octets(number)))
  }

  /// Whether the attribute has this type.
  public func isType(_ type: Int) -> Bool {
    typeOctets == AttributeTemplate.octets(Int64(type))
  }

  public var der: [UInt8] {
    whole
      ?? DER.sequence(
        DER.integer(octets: typeOctets), DER.integer(octets: versionOctets),
        DER.octetString(value))
  }

  /// Returns the SET OF the attributes.
  public static func set(_ attributes: [AttributeTemplate]) -> [UInt8] {
    DER.value(0x31, attributes.flatMap(\.der))
  }

  /// Returns the content bytes of a minimal INTEGER.
  static func octets(_ number: Int64) -> [UInt8] {
    var octets = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
    while octets.count > 1,
      (octets[0] == 0 && octets[1] < 0x80) || (octets[0] == 0xff && octets[1] >= 0x80)
    { octets.removeFirst() }
    return octets
  }
}

extension [AttributeTemplate] {
  /// Returns a copy in which `attribute` replaces the first one of its type; a new type is the
  /// last one.
  public func setting(_ attribute: AttributeTemplate) -> [AttributeTemplate] {
    var copy = self
    if let place = (firstIndex { $0.typeOctets == attribute.typeOctets }) {
      copy[place] = attribute
    } else {
      copy.append(attribute)
    }
    return copy
  }

  /// Returns a copy without the attributes of a type.
  public func removing(_ type: Int) -> [AttributeTemplate] { filter { !$0.isType(type) } }

  /// Returns a copy in which the first attribute of a type is changed.
  public func changing(
    _ type: Int, _ change: (inout AttributeTemplate) -> Void
  ) -> [AttributeTemplate] {
    var copy = self
    if let place = (firstIndex { $0.isType(type) }) { change(&copy[place]) }
    return copy
  }
}
