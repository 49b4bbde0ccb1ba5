/// What is wrong with a text, one of its members, or a value.
enum MemberFault: Sendable {
  /// No JSON object of the strict reader, or too long.
  case syntax
  case unknown, type, range, missing
}
