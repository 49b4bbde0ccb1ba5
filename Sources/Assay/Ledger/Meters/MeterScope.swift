/// The scopes of counters: the first part of their rows' keys (docs/spec/ledger.md §4).
enum MeterScope {
  static func account(_ account: Text) -> Text { scope("USER#", account) }

  static func signup(_ address: SourceAddress) -> Text { scope("SIGNUP_IP#", address.bucket) }

  static func apple(_ environment: Environment, _ bundleId: Text) -> Text {
    scope("APPLE#", Text(Text(stringLiteral: environment.name).utf8 + [0x23] + bundleId.utf8))
  }

  private static func scope(_ kind: StaticString, _ whose: Text) -> Text {
    Text(Text(stringLiteral: kind).utf8 + whose.utf8)
  }
}
