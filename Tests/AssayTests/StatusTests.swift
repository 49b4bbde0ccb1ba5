import Testing

@testable import Assay

/// Tests the table of statuses, and the code generated from it.
@Suite("Statuses")
struct StatusTests {
  private struct Row {
    var code: Int32
    var name: String
    var message: String
    var hint: String
    var retryClass: String
    var http: Int
  }

  private func source(_ path: String) throws -> String {
    let bytes = try require(Vectors.packageFile(path))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func rows() throws -> [Row] {
    let families = [
      "rejected", "malformed", "unsupported", "too-large", "misuse", "config", "unavailable",
      "internal", "pending",
    ]
    return try source("contract/statuses.tsv").split(separator: "\n")
      .filter { !$0.hasPrefix("#") && !$0.hasPrefix("\t") && !$0.contains("\treserved\t") }
      .map { line in
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map {
          String($0)
        }
        try require(columns.count == 7, "\(line)")
        let family = try require(families.firstIndex(of: String(columns[0].prefix { $0 != "." })))
        let detail = try require(Int32(columns[1]))
        return Row(
          code: Int32(family + 1) | detail << 8, name: columns[0], message: columns[5],
          hint: columns[6], retryClass: columns[3], http: Int(columns[2]) ?? 500)
      }
  }

  @Test("DOC-1 names and codes are unique, and a name begins with its family")
  func unique() {
    let families: [Status.Family: String] = [
      .rejected: "rejected", .malformed: "malformed", .unsupported: "unsupported",
      .tooLarge: "too-large", .misuse: "misuse", .config: "config", .unavailable: "unavailable",
      .internal: "internal", .pending: "pending",
    ]
    var names: Set<String> = []
    var codes: Set<Int32> = []
    for code in StatusTable.codes {
      let status = Status(code: code)
      let name = "\(status.name)"
      check(names.insert(name).inserted, "\(name)")
      check(codes.insert(code).inserted, "\(code)")
      checkEqual(families[status.family], String(name.prefix { $0 != "." }), "\(name)")
      check(code >> 8 > 0)
      let letters = name.utf8.allSatisfy {
        ($0 >= 0x61 && $0 <= 0x7a) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2e || $0 == 0x2d
      }
      check(letters && name.split(separator: ".").count == 3, "\(name)")
    }
    check(codes.count > 80)
  }

  @Test("DOC-1 the table in the library is the file it was generated from")
  func inStep() throws {
    let rows = try rows()
    checkEqual(Set(rows.map(\.code)), Set(StatusTable.codes))
    for row in rows {
      let entry = try require(StatusTable.entry(row.code), "\(row.name)")
      checkEqual("\(entry.name)", row.name)
      checkEqual("\(entry.message)", row.message)
      checkEqual("\(entry.hint)", row.hint)
      checkEqual("\(entry.retryClass)", row.retryClass)
      checkEqual(Status(code: row.code).httpStatus, row.http, "\(row.name)")
    }
  }

  @Test("DOC-4 the retry class is one of five, and never `never` where a retry is the answer")
  func retryClasses() throws {
    for code in StatusTable.codes {
      let entry = try require(StatusTable.entry(code))
      let retry = "\(entry.retryClass)"
      check(
        ["never", "later", "same-once", "other-environment", "after-config"].contains(retry),
        "\(entry.name)")
      if Status(code: code).family == .unavailable { check(retry != "never", "\(entry.name)") }
    }
  }

  @Test("DOC-1 a code of no table is unknown, its family is read from its low bits")
  func unknown() {
    checkEqual("\(Status(code: 0).name)", "ok")
    checkEqual(Status.ok.family, .ok)
    for code: Int32 in [1, 2, 0x7fff_ff01, 255, 10, -1, .min, .max] {
      checkEqual("\(Status(code: code).name)", "unknown", "\(code)")
    }
    checkEqual(Status(code: 0x7fff_ff01).family, .rejected)
    checkEqual(Status(code: 77).family, .internal)
    let answers = [200, 400, 400, 400, 413, 500, 500, 503, 500, 500, 500]
    for (family, http) in answers.enumerated() {
      let code = Int32(family) | (family == 0 ? 0 : 0x7fff_ff00)
      checkEqual(Status(code: code).httpStatus, http, "\(family)")
      checkEqual("\(Status(code: code).message)", "", "\(family)")
    }
    for code: Int32 in [0x7fff_ff09, 10, 255, 0x7fff_ffff, -1, .max] {
      checkEqual(Status(code: code).next, .ok, "\(code)")
    }
    checkEqual(Status(code: 0x7fff_ff01).next, Status(code: 2 | 1 << 8))
    checkEqual(Status(code: .min | 1).next, Status(code: 1 | 1 << 8))
  }

  @Test("DOC-1 DOC-3 every status makes a document that the strict reader takes")
  func documents() throws {
    for code in StatusTable.codes {
      let refusal = Refusal(
        Status(code: code), "DOC-1", at: "a\"b\\\u{1}é", detail: "detail \"quoted\"")
      let document = Envelope(kind: "transaction", factsMember: "transaction", checks: .empty)
        .refused(refusal)
      let tree = try JSONReader.readObject(document.json).root
      let entry = try require(StatusTable.entry(code))
      checkEqual(tree.at("status.code")?.integer, Int64(code))
      checkEqual(tree.at("error.message")?.text?.string, "\(entry.message): detail \"quoted\"")
      let hint = StatusTable.hint(code, .jws) ?? entry.hint
      checkEqual(tree.at("error.hint")?.text?.string, "\(hint)")
      checkEqual(tree.at("error.at")?.text?.string, "a\"b\\\u{1}é")
      check(!"\(entry.message)".isEmpty && !"\(entry.hint)".isEmpty, "\(entry.name)")
    }
  }
}

extension StatusTable {
  /// All codes, in the order of `Status.next`.
  static let codes: [Int32] = Array(
    sequence(state: Status.ok) { status in
      status = status.next
      return status == .ok ? nil : status.code
    })
}
