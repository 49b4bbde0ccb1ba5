/// The reason why a value or a member is refused.
enum MemberFault: Sendable {
  case unknown, type, range, missing
}
