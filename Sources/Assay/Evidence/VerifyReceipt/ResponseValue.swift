/// Reads values of a response by the meaning of their member: Apple writes ids, numbers and flags
/// either as text or as JSON numbers (VRR-9). Each function returns `nil` for another form.
enum ResponseValue {
  /// Returns the content of a string.
  static func content(_ value: JSONValue) -> ArraySlice<UInt8>? {
    guard value.kind == .string else { return nil }
    let source = value.source
    return source.contains(0x5c) ? value.text.map { $0.utf8[...] } : source
  }

  /// Returns the decimal digits, one or more, of a text or of a number in plain notation, never
  /// through floating point.
  static func digits(_ value: JSONValue) -> ArraySlice<UInt8>? {
    let digits = value.kind == .number ? value.source : content(value)
    guard let digits, !digits.isEmpty else { return nil }
    for digit in digits where digit < 0x30 || digit > 0x39 { return nil }
    return digits
  }

  /// Returns an id of 1 to 20 digits.
  static func id(_ value: JSONValue) -> ArraySlice<UInt8>? {
    guard let digits = digits(value), digits.count <= 20 else { return nil }
    return digits
  }

  /// Returns a product id of 1 to 255 bytes; of a JSON number its digits.
  static func productId(_ value: JSONValue) -> ArraySlice<UInt8>? {
    guard let id = value.kind == .number ? digits(value) : content(value), !id.isEmpty,
      id.count <= 255
    else { return nil }
    return id
  }

  /// Returns an integer of 0 … 2^63−1.
  static func number(_ value: JSONValue) -> Int64? {
    digits(value).flatMap { JSONValue.integer($0) }
  }

  /// Returns a count of 1 … 2^31−1 (PAY-6).
  static func quantity(_ value: JSONValue) -> Int64? {
    guard let count = number(value), count >= 1, count <= 0x7fff_ffff else { return nil }
    return count
  }

  /// Returns a flag: "true"/"false", "1"/"0", 1/0, true/false.
  static func flag(_ value: JSONValue) -> Bool? {
    if let boolean = value.boolean { return boolean }
    if let digits = digits(value), digits.count == 1 {
      return digits.first == 0x31 ? true : digits.first == 0x30 ? false : nil
    }
    guard let text = content(value) else { return nil }
    return text.elementsEqual("true") ? true : text.elementsEqual("false") ? false : nil
  }

  /// Returns a flag as 0 or 1, or another number, whose meaning is unknown.
  static func onOff(_ value: JSONValue) -> Int64? {
    if let flag = flag(value) { return flag ? 1 : 0 }
    return number(value)
  }

  // MARK: times

  /// Returns milliseconds since 1970 UTC, written in decimal digits.
  static func milliseconds(_ value: JSONValue, latest: Int64) -> Int64? {
    guard let time = number(value), time <= latest else { return nil }
    return time
  }

  /// Returns milliseconds since 1970 UTC of a text `YYYY-MM-DD HH:MM:SS Etc/GMT`.
  static func date(_ value: JSONValue, latest: Int64) -> Int64? {
    guard let text = content(value),
      let seconds = ReceiptDateText.seconds(text, zone: ReceiptDateText.utc), seconds >= 0
    else { return nil }
    // The year has four digits: the product cannot overflow.
    let time = seconds &* 1000
    return time <= latest ? time : nil
  }

  /// Returns the date of `expires_date`, whose 13 digits are milliseconds in either style
  /// (VRR-10).
  static func expiry(_ value: JSONValue, latest: Int64) -> Int64? {
    if let digits = digits(value) {
      return digits.count == 13 ? milliseconds(value, latest: latest) : nil
    }
    return date(value, latest: latest)
  }
}
