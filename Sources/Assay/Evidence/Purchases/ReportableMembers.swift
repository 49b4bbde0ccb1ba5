/// The members of a purchase that only some forms of evidence can report (the table under DCD-4).
/// A form neither confirms nor denies members that it cannot report: the newest evidence that can
/// report a member counts (DCD-3).
struct ReportableMembers: OptionSet, Sendable {
  let rawValue: UInt8

  static let revocation = ReportableMembers(rawValue: 1)
  static let upgrade = ReportableMembers(rawValue: 2)
  static let family = ReportableMembers(rawValue: 4)
  static let account = ReportableMembers(rawValue: 8)
  static let offers = ReportableMembers(rawValue: 16)
  static let all = ReportableMembers(rawValue: 31)
}
