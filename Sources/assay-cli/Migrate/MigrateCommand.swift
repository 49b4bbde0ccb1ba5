import AssayAuthority
import CSystem

@_spi(AssaySwift) import Assay

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Put what an old back end kept into the ledger, and say who is owed what.",
    discussion: """
      FILE has one JSON object a line, a row of what a shop kept; - is standard input:
        {"account":"u1","evidence":"eyJ…","granted":true,"receivedAtMs":1700000000000}
      evidence is a receipt, a JWS, a notification, or an answer of verifyReceipt around a receipt. \
      It is verified, with what is old taken as it was when it was signed; only what Apple signed \
      enters the ledger. A row without evidence, but with originalTransactionId, is a reason to ask \
      Apple, and is listed in ask.ndjson.

      Each purchase is written once, however many rows have it, in whatever order. Where two \
      accounts claim the same, nothing is written and both are listed. The run can be killed at any \
      time: the same command goes on where it was. Memory does not grow with the input.

      With --dry-run nothing is written but the report. With --ledger beside it the batches are \
      written and rolled back, so that the report has what the ledger knows. With --out in place \
      of --ledger, for a database that this command does not open, FILE has the operations of \
      the ledger, for examples/migrate/load of your language.

      Examples:
        assay migrate rows.ndjson --config config.json --dry-run --assume owed
        assay migrate rows.ndjson --config config.json --ledger sqlite:/var/lib/shop.db
        zcat rows.ndjson.gz | assay migrate - --config config.json --ledger sqlite:shop.db
        assay migrate users.csv --format columns --columns account=id,evidence=receipt \\
          --config config.json --ledger postgresql://shop@db/shop --assume granted

      Exit codes: 0 every row is good, 1 finished, with rejected rows or conflicts, 2 usage, \
      configuration or columns, 3 database or disk: start it again, 130 stopped: start it again.
      """)

  @Argument(help: "Files with one row per line; - for standard input.", completion: .file)
  var files: [String]

  @OptionGroup
  var source: ConfigurationOption

  @Option(
    help: ArgumentHelp(
      """
      The ledger to write: sqlite:PATH, postgresql://user@host/database or \
      mysql://user@host/database; the password is in PGPASSWORD or MYSQL_PWD.
      """, valueName: "url"))
  var ledger: String?

  @Option(
    help: ArgumentHelp(
      """
      Write what the ledger needs to this file, an operation a line with its evidence; a loader \
      runs them in a ledger that has no --ledger.
      """, valueName: "file"), completion: .file)
  var out: String?

  @Flag(help: "Write nothing but the report.")
  var dryRun = false

  @Option(
    help: """
      How rows are written: ndjson, columns (CSV, with --columns), or the export of a service, \
      revenuecat or adapty.
      """, completion: .values(RowFormat.names))
  var format = "ndjson"

  @Option(
    help: ArgumentHelp(
      """
      Which column of a CSV has which member of a row: \
      account=user_id,evidence=latest_receipt,receivedAtMs=created_at,granted=is_delivered.
      """, valueName: "map"))
  var columns: String?

  @Option(
    help: "What separates the columns of a CSV: comma, semicolon or tab.",
    completion: .values(["comma", "semicolon", "tab"]))
  var separator = "comma"

  @Option(
    help: """
      Whether purchases are delivered of which the rows do not say: granted, or owed. There is no \
      default: a wrong one pays twice, or not at all.
      """, completion: .values(["granted", "owed"]))
  var assume: String?

  @Option(
    help: """
      What is owed is only listed (list), or claimed, so that resume-expired gives it out (claim).
      """, completion: .values(["list", "claim"]))
  var owed = "list"

  @Option(
    help: """
      Of two accounts with one purchase none gets it (hold), or the one whose row has the earliest \
      receivedAtMs (earliest).
      """, completion: .values(["hold", "earliest"]))
  var conflict = "hold"

  @Flag(help: "The shop grants each period of a subscription, as it grants a consumable.")
  var periods = false

  @Option(
    help: ArgumentHelp(
      "Folder of the report; ./migrate-RUN without it.", valueName: "folder"),
    completion: .folder)
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Folder of the run's own files; below that of the report without it.", valueName: "folder"),
    completion: .folder)
  var work: String?

  @Option(name: "run", help: "Name of the run; without it one that follows from input and options.")
  var runName: String?

  @Option(help: "Threads that verify; as many as the machine has cores without it.")
  var jobs: Int?

  @Option(help: "Purchases in one transaction.")
  var batch = 500

  @Option(help: "End the run when more rows than this are rejected.")
  var maxRejects: Int?

  @Option(help: "The time to take as now: milliseconds since 1970, or 2026-01-31T12:00:00Z.")
  var now: String?

  @Option(
    help: "How far it is, on standard error: auto, bar, json or none.",
    completion: .values(MigrateProgress.Mode.allCases.map(\.rawValue)))
  var progress = "auto"

  func validate() throws {
    func check(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
      guard let value, !range.contains(value) else { return }
      throw UsageFault("\(option) \(value): give \(range.lowerBound) to \(range.upperBound)")
    }
    func choose(_ option: String, _ value: String?, _ names: [String]) throws {
      guard let value, !names.contains(value) else { return }
      throw UsageFault(
        "\(option) \(Terminal.safe(value)): there are \(names.joined(separator: ", "))")
    }
    try check("--jobs", jobs, 1...256)
    try check("--batch", batch, 1...5000)
    try check("--max-rejects", maxRejects, 0...Int.max)
    try choose("--format", format, RowFormat.names)
    try choose("--separator", separator, ["comma", "semicolon", "tab"])
    if (format == "columns") != (columns != nil) {
      throw UsageFault("--columns goes with --format columns, and that needs it")
    }
    try choose("--assume", assume, ["granted", "owed"])
    try choose("--owed", owed, ["list", "claim"])
    try choose("--conflict", conflict, ["hold", "earliest"])
    try choose("--progress", progress, MigrateProgress.Mode.allCases.map(\.rawValue))
    if files.filter({ $0 == "-" }).count > 1 {
      throw UsageFault("standard input can be given once")
    }
    if out != nil, ledger != nil || dryRun {
      throw UsageFault("--out takes the place of --ledger, and writes: without --dry-run")
    }
    if ledger == nil, out == nil, !dryRun {
      throw UsageFault("--ledger is missing: where to write, or --dry-run to write nothing")
    }
    let isPlain = runName?.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
      default: false
      }
    }
    if let runName, isPlain == false || !(1...64).contains(runName.utf8.count) {
      throw UsageFault("--run \(Terminal.safe(runName)): give at most 64 letters, digits, - and _")
    }
  }

  func run() throws {
    MigrateStop.begin()
    do {
      do { try migrate() } catch let problem as Problem where problem.isOfOutput {
        throw MigrateFault("unavailable.migrate.disk", problem.description, exitCode: 3)
      }
    } catch let fault as MigrateFault {
      Terminal.complain(fault.message)
      throw Refused(exitCode: fault.exitCode)
    }
  }

  private var options: MigrateOptions {
    var options = MigrateOptions()
    options.assumesGranted = assume.map { $0 == "granted" }
    options.owed = MigrateOptions.Owed(rawValue: owed) ?? .list
    options.conflict = MigrateOptions.Conflict(rawValue: conflict) ?? .hold
    options.hasPeriods = periods
    options.isDryRun = dryRun
    options.maxRejects = maxRejects
    options.batch = batch
    options.jobs = jobs ?? max(1, min(256, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    return options
  }

  private func migrate() throws {
    let begin = FileSystem.monotonic
    let options = options
    if !files.contains("-") || format == "qonversion" { _ = try rowFormat(files) }
    let connection = try ledger.map { try DatabaseURL.connection($0) }
    let (verifier, prefix, json) = try MigrateConfiguration.load(
      ConfigurationFile.find(source.config), connection)
    let inputs = try files.map { try MigrateInput($0) }
    let terms = terms(json, inputs)
    let name = runName ?? String(ReadWorker.hex(AttestDigest.sha256(terms.bytes)).prefix(16))
    let report = self.report ?? "./migrate-" + name
    let folder = try WorkFolder(
      work ?? report + "/work", run: name, inputs: inputs, terms: terms, now: now)
    if let tally = folder.finalTally {
      folder.removeWork()
      Terminal.complain("assay migrate: the run \(name) is over; --run NEW begins another")
      return try MigrateCommand.finish(tally, report)
    }
    try FileSystem.makeFolder(report)
    if let connection {
      try checkSchema(
        LedgerConversation(verifier: verifier, connection: connection, nowMs: folder.nowMs))
    }
    try folder.takeStandardInput()
    WorkFolder.removeParts(in: folder.path)
    WorkFolder.removeParts(in: report)
    let format = try rowFormat(folder.inputs.map(\.readPath))
    let evidence = EvidenceReader(verifier: verifier, nowMs: folder.nowMs)
    let stored = StoredEvidence(inputs: folder.inputs, format: format, evidence: evidence)
    let lines = try out.map { try LedgerLines($0, stored, run: name) }
    var progress = MigrateProgress(
      MigrateProgress.Mode(rawValue: self.progress) ?? .auto,
      total: folder.inputs.reduce(0) { $0 + $1.byteCount })
    let written = MigrateReport(report, files)
    var checkpoint = try folder.checkpoint()
    try written.summarize(checkpoint.tally, folder, state: "running", seconds: nil)
    try ReadPhase(folder: folder, format: format, options: options, evidence: evidence)
      .run(&checkpoint, &progress)
    let runs = RunSet(folder.path, checkpoint)
    try ReadPhase.writeRejects(runs, to: report + "/reject.ndjson", written)
    var journal: MigrateJournal
    do throws(DatabaseFault) {
      journal = try MigrateJournal(
        dryRun ? nil : connection, prefix: prefix, run: folder.journalName,
        tally: checkpoint.tally)
    } catch { throw error.problem }
    try WritePhase(
      folder: folder, options: options, stored: stored, report: written, connection: connection,
      lines: lines
    ).run(runs, &journal, &progress)
    progress.end()
    try MigrateCommand.checkSums(journal.tally)
    try lines?.end()
    let seconds = Int((FileSystem.monotonic - begin) / 1_000_000_000)
    try written.summarize(journal.tally, folder, state: "done", seconds: seconds)
    try folder.end(journal.tally)
    try MigrateCommand.finish(journal.tally, report)
  }

  /// Prints the totals of a run that is over.
  private static func finish(_ tally: MigrateTally, _ report: String) throws {
    print(MigrateReport.totals(tally, report))
    if tally["files", "reject"] > 0 || tally["files", "conflicts"] > 0 {
      throw Refused(exitCode: 1)
    }
  }

  private func rowFormat(_ paths: [String]) throws -> RowFormat {
    let separators: [String: UInt8] = ["comma": 0x2c, "semicolon": 0x3b, "tab": 0x09]
    return try RowFormat.named(
      format, columns: columns, separator: separators[separator] ?? 0x2c, paths: paths)
  }

  /// What a later start of the run must have in common with the first.
  private func terms(_ configuration: [UInt8], _ inputs: [MigrateInput]) -> JSONText {
    .object([
      .init("format", .integer(1)),
      .init("configuration", .string(ReadWorker.hex(AttestDigest.sha256(configuration)))),
      .init(
        "input",
        .array(
          inputs.map {
            .object([
              .init("name", .string($0.name)), .init("bytes", .integer(Int64($0.byteCount))),
              .init("sha256", .string($0.digest)),
            ])
          })),
      .init("rows", .string([format, columns ?? "", separator].joined(separator: " "))),
      .init("ledger", (ledger ?? out).map { .string($0) } ?? .null), .init("options", options.json),
    ])
  }

  private func checkSchema(_ conversation: LedgerConversation) throws {
    let document: Document
    do {
      document = try conversation.run("check-schema", answersFaults: true)
    } catch let fault as DatabaseFault { throw fault.problem }
    guard document.status == .ok else {
      let isAway = document.status.family == .unavailable
      throw MigrateFault(
        "\(document.status.name)",
        "the ledger's tables are not as this version needs them: "
          + Terminal.safe(document.text("error.at") ?? ""), exitCode: isAway ? 3 : 2)
    }
  }

  /// Checks that nothing was lost on the way (MIG-44).
  private static func checkSums(_ tally: MigrateTally) throws {
    let rows = ["empty", "skipped", "good", "partial", "hearsay", "rejected"].reduce(0) {
      $0 + tally["rows", $1]
    }
    let outcomes = GroupPlan.Outcome.allCases.reduce(0) { $0 + tally["purchases", $1.rawValue] }
    let texts = tally["evidence", "verified"] + tally["evidence", "refused"]
    guard rows == tally["rows", "read"], outcomes == tally["purchases", "distinct"],
      texts == tally["evidence", "distinct"], texts <= tally["evidence", "texts"],
      outcomes <= tally["purchases", "seen"]
    else {
      throw MigrateFault(
        "internal.migrate.sums", "the counts of report.json do not add up", exitCode: 3)
    }
  }
}
