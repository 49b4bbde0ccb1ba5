import Assay

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Sort a day's requests by triage and show what they were.",
    discussion: """
      FILE has one JSON object per line, as a request log writes it; - is standard input:
        {"timeMs": 1795132800000, "blob": "ewoJInNpZ25hdHVyZSIgPSAi..."}
      timeMs is milliseconds or seconds since 1970, or ISO 8601 text; blob is what the \
      client sent. Other members do not matter. Lines that are not such an object are \
      counted as unreadable; they do not stop the report.

      With --prices the report says what that means in money. FILE has one product a line, as a \
      spreadsheet writes it (CSV): product id, list price, currency.
        com.example.app.coins100,4.99,USD
      Prices have at most three decimals, after a point; a first line "product,price,currency", \
      empty lines and lines that begin with # do not count. Currencies are not added together.

      With --yesterday it compares with another day: its log, counted in the same way, or what \
      --json printed about it.

      Nothing is verified and nothing leaves this machine. Memory does not grow with the \
      file: repeats are found by a filter of fixed size that may, rarely, take a new \
      purchase for one that was seen; the report says how rarely. Two runs over the same \
      file give the same bytes.

      Examples:
        assay report day.ndjson --config config.json
        assay report day.ndjson --config config.json --html day.html --svg day.svg
        zcat day.ndjson.gz | assay report - --config config.json --json
        assay report log.ndjson --config config.json --blob-member receipt --time-member ts
        assay report today.ndjson --config config.json --prices prices.csv \\
          --yesterday yesterday.ndjson --html today.html

      Exit codes: 0 reported, 2 usage, configuration, or a file that cannot be read.
      """)

  @Argument(help: "File with one request per line; - for standard input.", completion: .file)
  var file: String

  @OptionGroup
  var source: ConfigurationOption

  @Option(
    help: ArgumentHelp("Write the chart of the classes over time.", valueName: "file"),
    completion: .file)
  var svg: String?

  @Option(
    help: ArgumentHelp("Write one page with everything, for a browser.", valueName: "file"),
    completion: .file)
  var html: String?

  @Option(
    help: ArgumentHelp("List prices of the products, to say it in money.", valueName: "file"),
    completion: .file)
  var prices: String?

  @Option(
    help: ArgumentHelp("A log or a report (--json) to compare with.", valueName: "file"),
    completion: .file)
  var yesterday: String?

  @Flag(help: "Print the report as JSON.")
  var json = false

  @Option(help: "Member of a line that holds what the client sent.")
  var blobMember = "blob"

  @Option(help: "Member of a line that holds the time.")
  var timeMember = "timeMs"

  @Option(help: "The time for lines without one: milliseconds since 1970, or a date.")
  var now = "2026-01-01"

  @Option(help: "Memory for remembering repeats, MiB.")
  var repeatMemory = 16

  @Option(help: "Longest line that is read, KiB.")
  var lineCap = 4096

  @Option(help: "Threads that read lines.")
  var threads = 2

  @Flag(letter: "q", help: "No progress bar.")
  var quiet = false

  @Flag(help: "Also say on standard error how long it took, and which lines took longest.")
  var timing = false

  func validate() throws {
    func check(_ option: String, _ value: Int, _ range: ClosedRange<Int>) throws {
      guard range.contains(value) else {
        throw UsageFault("\(option) \(value): give \(range.lowerBound) to \(range.upperBound)")
      }
    }
    try check("--repeat-memory", repeatMemory, 1...4096)
    try check("--line-cap", lineCap, 1...65_536)
    try check("--threads", threads, 1...64)
    if [file, prices, yesterday].filter({ $0 == "-" }).count > 1 {
      throw UsageFault("standard input can be only one of FILE, --prices and --yesterday")
    }
    if blobMember == timeMember {
      throw UsageFault("--blob-member and --time-member cannot be the same")
    }
  }

  func run() throws {
    let verifier = try source.verifier()
    let prices = try prices.map { try PriceList($0) }
    let format = LineFormat(
      blobMember: Array(blobMember.utf8), timeMember: Array(timeMember.utf8),
      lineCap: lineCap << 10, nowMs: try Input.time(now, option: "--now"), isTimed: timing,
      prices: prices)
    let reader = DayReader(verifier: verifier, format: format, threads: threads)
    let earlier = try yesterday.map { path in
      if let earlier = try EarlierDay(report: path) { return earlier }
      return EarlierDay(try count(path, reader), source: name(of: path), prices: prices)
    }
    let begin = FileSystem.monotonic
    let tally = try count(file, reader)
    let report = DayReport(tally, source: name(of: file), prices: prices, earlier: earlier)
    if let svg { try OutputFile.write(Array(report.chart(.standalone).utf8), to: svg) }
    if let html { try OutputFile.write(Array(report.page.utf8), to: html) }
    if json {
      Terminal.write(report.json.bytes + [0x0a])
    } else {
      print(report.text, terminator: "")
    }
    if timing {
      complain(tally, seconds: Double(FileSystem.monotonic - begin) / 1_000_000_000)
    }
  }

  private func count(_ path: String, _ reader: DayReader) throws -> DayTally {
    let input = try RequestFile(path)
    var progress = ProgressBar(total: input.byteCount, isQuiet: quiet)
    return try reader.tally(input, repeatBytes: repeatMemory << 20, progress: &progress)
  }

  /// Returns the file's name without its folder, which is private.
  private func name(of path: String) -> String {
    path == "-" ? "standard input" : FileSystem.lastPart(of: path)
  }

  private func complain(_ tally: DayTally, seconds: Double) {
    let perSecond = Int(Double(tally.lines) / max(seconds, 0.001))
    Terminal.complain(
      "assay: \(Figures.grouped(tally.lines)) lines in \(Int(seconds * 1000)) ms, "
        + "\(Figures.grouped(perSecond)) a second; triage took longest for")
    for slow in tally.slowest.elements {
      Terminal.complain("  line \(slow.line): \(slow.nanoseconds / 1000) µs")
    }
  }
}
