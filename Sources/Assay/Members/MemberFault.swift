/// What is wrong with a value or a member.
enum MemberFault: Sendable {
  case unknown, type, range, missing
}
