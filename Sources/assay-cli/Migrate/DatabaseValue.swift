/// A value of a statement or of a row.
enum DatabaseValue {
  case text(String)
  case integer(Int64)
  case null
}
