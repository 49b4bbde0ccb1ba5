/// Why a row is not taken: its name, and the member.
struct RowFault: Error {
  let name: String
  let at: String

  static func malformed(_ member: String) -> RowFault {
    RowFault(name: "malformed.migrate.row", at: member)
  }
  static let tooLarge = RowFault(name: "too-large.migrate.row", at: "")
}
