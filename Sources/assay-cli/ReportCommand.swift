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

      Nothing is verified and nothing leaves this machine. Memory does not grow with the \
      file: repeats are found by a filter of fixed size that may, rarely, take a new \
      purchase for one that was seen; the report says how rarely. Two runs over the same \
      file give the same bytes.

      Examples:
        assay report day.ndjson --config config.json
        assay report day.ndjson --config config.json --html day.html --svg day.svg
        zcat day.ndjson.gz | assay report - --config config.json --json
        assay report log.ndjson --config config.json --blob-member receipt --time-member ts

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
    if blobMember == timeMember {
      throw UsageFault("--blob-member and --time-member cannot be the same")
    }
  }

  func run() throws {
    let verifier = try source.verifier()
    let format = LineFormat(
      blobMember: Array(blobMember.utf8), timeMember: Array(timeMember.utf8),
      lineCap: lineCap << 10, nowMs: try Input.time(now, option: "--now"), isTimed: timing)
    let input = try RequestFile(file)
    var progress = ProgressBar(total: input.byteCount, isQuiet: quiet)
    let begin = FileSystem.monotonic
    let reader = DayReader(verifier: verifier, format: format, threads: threads)
    let tally = try reader.tally(
      input, repeatBytes: repeatMemory << 20, progress: &progress)
    let report = DayReport(tally, source: sourceName)
    if let svg { try OutputFile.write(Array(report.chart(isStandalone: true).utf8), to: svg) }
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

  /// The file's name without its folder, which is private.
  private var sourceName: String {
    file == "-" ? "standard input" : FileSystem.lastPart(of: file)
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
