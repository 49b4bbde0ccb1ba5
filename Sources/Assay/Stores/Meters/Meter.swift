/// One counter of a span of time: a row of quotas, sign-ups or paces (docs/spec/stores.md
/// §4).
struct Meter: Sendable {
  /// Whose: `USER#<account>`, `SIGNUP_IP#<address>`, `APPLE#<environment>#<bundle id>`.
  let scope: Text
  let bucket: MeterBucket
  let name: Text

  init(scope: Text, _ bucket: MeterBucket, _ name: Text) {
    self.scope = scope
    self.bucket = bucket
    self.name = name
  }

  static let nameLengths = 1...64

  /// Names become parts of headers, keys and attributes: visible ASCII without quotation
  /// mark, backslash and braces.
  static func isName(_ name: Text) -> Bool {
    nameLengths.contains(name.count)
      && name.utf8.allSatisfy {
        (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c && $0 != 0x7b && $0 != 0x7d
      }
  }

  static func userScope(_ account: Text) -> Text { scope("USER#", account) }

  static func signupScope(_ address: SourceAddress) -> Text {
    scope("SIGNUP_IP#", address.bucket)
  }

  static func appleScope(_ environment: Environment, _ bundleId: Text) -> Text {
    scope("APPLE#", Text(Text(stringLiteral: environment.name).utf8 + [0x23] + bundleId.utf8))
  }

  private static func scope(_ kind: StaticString, _ whose: Text) -> Text {
    Text(Text(stringLiteral: kind).utf8 + whose.utf8)
  }
}
