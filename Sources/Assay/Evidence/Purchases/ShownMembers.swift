/// The members of a purchase that only some forms of evidence can report (the table under DCD-4).
/// A form neither confirms nor denies members that it cannot report: the newest evidence that can
/// report a member counts (DCD-3).
struct ShownMembers: OptionSet, Sendable {
  let rawValue: UInt8

  static let revocation = ShownMembers(rawValue: 1)
  static let upgrade = ShownMembers(rawValue: 2)
  static let family = ShownMembers(rawValue: 4)
  static let account = ShownMembers(rawValue: 8)
  static let offers = ShownMembers(rawValue: 16)
  static let all = ShownMembers(rawValue: 31)
}
