/// The check of the user name and password that a client sends (BCK-12, BCK-22).
enum SignupCredentials {
  private static let passwordCap: Int64 = 100
  /// The smallest number of different digits; a random name has fewer once in two million.
  private static let differentDigits = 5

  static func fault(
    _ username: MemberNode?, passwordBytes: Int64, _ policy: LedgerPolicy.Signup
  ) -> Refusal? {
    guard let username, passwordBytes > 0, username.value.text?.isEmpty != true else {
      let place = passwordBytes > 0 ? "username" : "passwordBytes"
      return Refusal(.malformedSignupMissing, "BCK-12", at: place)
    }
    if username.value.text?.hasControlCharacter == true {
      return Refusal(.malformedLedgerText, "STO-84", at: "username")
    }
    guard let text = username.value.text, isName(text, policy) else {
      return Refusal(.malformedSignupCredentials, "BCK-12", at: "username")
    }
    guard passwordBytes <= passwordCap else {
      return Refusal(.malformedSignupCredentials, "BCK-12", at: "passwordBytes")
    }
    guard Set(text.utf8.dropFirst(policy.prefix.count)).count >= differentDigits else {
      return Refusal(.malformedSignupCredentials, "BCK-22", at: "username")
    }
    return nil
  }

  private static func isName(_ text: Text, _ policy: LedgerPolicy.Signup) -> Bool {
    let digits = text.utf8.dropFirst(policy.prefix.count)
    return text.utf8.starts(with: policy.prefix.utf8) && digits.count == Int(policy.digits)
      && digits.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) }
  }
}
