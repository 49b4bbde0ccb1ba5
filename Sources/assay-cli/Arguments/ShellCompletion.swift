/// The completions for the word before the cursor. The scripts below call the command line
/// itself, so that they agree with every version of it:
///
///     assay --complete WORD ... CURRENT
///
/// prints `files`, `folders` or `words`, and then a line for each word that fits: the word, a
/// tab and its meaning.
struct ShellCompletion {
  let root: any ParsableCommand.Type

  /// Returns the lines to print.
  ///
  /// - Parameter words: the words after the program's name; the last one is incomplete, and may
  ///   be empty.
  func answer(_ words: [String]) -> [String] {
    var words = ShellCompletion.joined(words)
    let current = words.popLast() ?? ""
    if words.first == "help" { words.removeFirst() }
    let (path, rest) = CommandLineReader(root: root).find(words)
    let parameters = path.command.init().parameters()
    var places = parameters.filter { $0.kind == .positional }[...]
    var pending: Parameter?
    var isOptions = true
    for word in rest {
      if pending != nil {
        pending = nil
      } else if isOptions, word == "--" {
        isOptions = false
      } else if isOptions, word.count > 1, word.hasPrefix("-") {
        pending = parameters.first { $0.kind == .option && $0.isCalled(word) }
      } else if let place = places.first, !place.isRepeating {
        places = places.dropFirst()
      }
    }
    if let pending { return values(pending.completion, current) }
    if isOptions, current.hasPrefix("-") {
      if let equals = current.firstIndex(of: "="),
        let option = parameters.first(where: { $0.isCalled(String(current[..<equals])) })
      {
        let before = String(current[...equals])
        return values(option.completion, String(current.dropFirst(before.count)), before: before)
      }
      return ["words"]
        + parameters.filter { $0.kind != .positional }.map { ("--" + $0.name, $0.help.text) }
        .filter { $0.0.hasPrefix(current) }.map { $0.0 + "\t" + $0.1 }
        + ["--help\tShow help."].filter { $0.hasPrefix(current) }
    }
    let commands = path.command.configuration.subcommands.map { $0.configuration }
    if !commands.isEmpty {
      return ["words"]
        + commands.filter { $0.commandName.hasPrefix(current) }
        .map { $0.commandName + "\t" + $0.abstract }
    }
    return values(places.first?.completion ?? .none, current)
  }

  /// Returns the lines for a parameter's values.
  ///
  /// - Parameter before: the part of the shell's word before the value.
  private func values(
    _ completion: Completion, _ current: String, before: String = ""
  ) -> [String] {
    switch completion {
    case .none: return ["words"]
    case .file: return ["files"]
    case .folder: return ["folders"]
    case .values(let values):
      return ["words"] + values.filter { $0.hasPrefix(current) }.map { before + $0 + "\t" }
    case .explainable:
      return values(.values(ExplanationTable().names), current, before: before)
    case .forgeries:
      let rules = Set(MintCommand.forgeries.map(\.rule)).sorted()
      return values(.values(rules), current, before: before)
    case .kindAndFile(let kinds):
      // A kind, or a file whose kind is found.
      let fitting = kinds.filter { $0.hasPrefix(current) }
      return fitting.isEmpty ? ["files"] : ["words"] + fitting.map { $0 + ":\t" }
    }
  }

  /// Joins words that bash has split at `=` and `:`. A separator at the end begins a value.
  private static func joined(_ words: [String]) -> [String] {
    var out: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "=", let last = out.last, last.hasPrefix("--") {
        // The value is another word, as after a space.
        if rest.isEmpty { out.append("") }
      } else if word == ":", let last = out.popLast() {
        out.append(last + ":" + (rest.popFirst() ?? ""))
      } else {
        out.append(word)
      }
    }
    return out
  }

  static let shells = ["bash", "zsh", "fish"]

  /// Returns the script that a shell loads; `nil` for an unknown shell.
  static func script(_ shell: String) -> String? {
    switch shell {
    case "bash": return bash
    case "zsh": return zsh
    case "fish": return fish
    default: return nil
    }
  }

  private static let bash = #"""
    # Completion of assay for bash. It asks the command line itself.
    _assay() {
      local current=$2 line reply
      [[ $current == [=:] ]] && current=
      mapfile -t reply < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
      COMPREPLY=()
      case ${reply[0]} in
      files | folders)
        compopt -o filenames 2>/dev/null
        [[ ${reply[0]} == files ]] && line=-f || line=-d
        mapfile -t COMPREPLY < <(compgen "$line" -- "$current")
        ;;
      *)
        for line in "${reply[@]:1}"; do
          COMPREPLY+=("${line%%$'\t'*}")
        done
        [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
        ;;
      esac
      return 0
    }
    complete -F _assay assay

    """#

  private static let zsh = #"""
    #compdef assay
    # Completion of assay for zsh. It asks the command line itself.
    _assay() {
      local -a reply offered
      local line
      reply=("${(@f)$("${words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
      case $reply[1] in
      files | folders)
        [[ $PREFIX == --*=* ]] && compset -P '*='
        [[ $PREFIX == *:* ]] && compset -P '*:'
        if [[ $reply[1] == files ]]; then _files; else _files -/; fi
        ;;
      *)
        for line in "${(@)reply[2,-1]}"; do
          [[ -n $line ]] && offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        done
        if (( $#offered == 1 )) && [[ $offered[1] == *'\::'* ]]; then
          _describe -t values value offered -S ''
        elif (( $#offered )); then
          _describe -t values value offered
        fi
        ;;
      esac
    }
    _assay "$@"

    """#

  private static let fish = #"""
    # Completion of assay for fish. It asks the command line itself.
    function __assay_complete
      set -l words (commandline -opc)
      set -l current (commandline -ct)
      set -l reply ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
      set -l before (string match -r '^--[^=]*=|^[a-z-]+:' -- "$current")
      set -l rest (string replace -r '^--[^=]*=|^[a-z-]+:' '' -- "$current")
      switch "$reply[1]"
        case files
          string replace -r '^' "$before" -- (__fish_complete_path "$rest")
        case folders
          string replace -r '^' "$before" -- (__fish_complete_directories "$rest")
        case '*'
          string join \n -- $reply[2..-1]
      end
    end
    complete -c assay -f -a '(__assay_complete)'

    """#
}
