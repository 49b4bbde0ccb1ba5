/// Values of an answer, read by what the field means: Apple writes ids, numbers
/// and flags sometimes as text, sometimes as numbers (VRR-9). nil: not of that form.
enum ResponseValue {
  /// The content of a string.
  static func content(_ value: JSONValue) -> ArraySlice<UInt8>? {
    guard value.kind == .string else { return nil }
    let source = value.source
    return source.contains(0x5c) ? value.text.map { $0.utf8[...] } : source
  }

  /// Decimal digits, one or more, from a text or from a number in plain notation:
  /// digit for digit, never through floating point.
  static func digits(_ value: JSONValue) -> ArraySlice<UInt8>? {
    let digits = value.kind == .number ? value.source : content(value)
    guard let digits, !digits.isEmpty else { return nil }
    for digit in digits where digit < 0x30 || digit > 0x39 { return nil }
    return digits
  }

  /// An id of 1 to 20 digits.
  static func id(_ value: JSONValue) -> ArraySlice<UInt8>? {
    guard let digits = digits(value), digits.count <= 20 else { return nil }
    return digits
  }

  /// A product id of 1 to 255 bytes; one that is a number comes as its digits.
  static func productId(_ value: JSONValue) -> ArraySlice<UInt8>? {
    guard let id = value.kind == .number ? digits(value) : content(value), !id.isEmpty,
      id.count <= 255
    else { return nil }
    return id
  }

  /// 0 … 2^63−1.
  static func number(_ value: JSONValue) -> Int64? {
    digits(value).flatMap { JSONValue.integer($0) }
  }

  /// A count of 1 … 2^31−1 (PAY-6).
  static func quantity(_ value: JSONValue) -> Int64? {
    guard let count = number(value), count >= 1, count <= 0x7fff_ffff else { return nil }
    return count
  }

  /// "true"/"false", "1"/"0", 1/0, true/false.
  static func flag(_ value: JSONValue) -> Bool? {
    if let boolean = value.boolean { return boolean }
    if let digits = digits(value), digits.count == 1 {
      return digits.first == 0x31 ? true : digits.first == 0x30 ? false : nil
    }
    guard let text = content(value) else { return nil }
    return text.elementsEqual("true") ? true : text.elementsEqual("false") ? false : nil
  }

  /// A flag as 0 or 1, or another number, which is a value not known.
  static func onOff(_ value: JSONValue) -> Int64? {
    if let flag = flag(value) { return flag ? 1 : 0 }
    return number(value)
  }

  // MARK: times

  /// Milliseconds since 1970 UTC as decimal text.
  static func milliseconds(_ value: JSONValue, latest: Int64) -> Int64? {
    guard let time = number(value), time <= latest else { return nil }
    return time
  }

  /// `YYYY-MM-DD HH:MM:SS Etc/GMT`; milliseconds since 1970 UTC.
  static func date(_ value: JSONValue, latest: Int64) -> Int64? {
    guard let text = content(value),
      let seconds = ReceiptDateText.seconds(text, zone: ReceiptDateText.utc), seconds >= 0
    else { return nil }
    // The year has four digits: the product cannot overflow.
    let time = seconds &* 1000
    return time <= latest ? time : nil
  }

  /// VRR-10: `expires_date` of 13 digits is milliseconds, whatever the style.
  static func expiry(_ value: JSONValue, latest: Int64) -> Int64? {
    if let digits = digits(value) {
      return digits.count == 13 ? milliseconds(value, latest: latest) : nil
    }
    return date(value, latest: latest)
  }
}
