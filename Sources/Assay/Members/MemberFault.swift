/// What is wrong with a text, one of its members, or a value.
enum MemberFault: Sendable {
  /// Not a JSON object that the strict reader accepts, or too long.
  case syntax
  case unknown, type, range, missing
}
